import type { Context } from 'hono'
import { DECISIONS } from '../../protocol/decisions.ts'
import { STATUS_OF } from '../../protocol/errors.ts'
import type { RateState, Refusal } from '../refusal.ts'

/** §7: the headers of the per-second limit. They come with successes too. */
export function setRate(c: Context, rate: RateState): void {
  if (!Number.isFinite(rate.limit)) return
  c.header('X-RateLimit-Limit', String(rate.limit))
  c.header('X-RateLimit-Remaining', String(rate.remaining))
}

/** The failure envelope (§1, §7) of a request that was refused. */
export function refused(c: Context, refusal: Refusal): Response {
  if (refusal.rate) setRate(c, refusal.rate)
  if (refusal.retryAfterMs !== null)
    c.header('Retry-After', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))))
  return c.json({ success: false, error: refusal.message, code: refusal.code }, STATUS_OF[refusal.code])
}

/** The failure envelope of a fault of our own, which says nothing of what it was. */
export function faulted(c: Context): Response {
  return c.json({ success: false, error: 'The host failed to answer.', code: DECISIONS.fault }, 500)
}
