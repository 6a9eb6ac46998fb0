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

/** The body of every failure (§1). */
export function failure(error: string, code: string) {
  return { success: false, error, code }
}

/** The answer to a request that was refused (§7). */
export function refused(c: Context, refusal: Refusal): Response {
  if (refusal.rate) setRate(c, refusal.rate)
  if (refusal.retryAfterMs !== null)
    c.header('Retry-After', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))))
  return c.json(failure(refusal.message, refusal.code), STATUS_OF[refusal.code])
}

/** The answer in a fault of our own, which says nothing of what it was. */
export function faulted(c: Context): Response {
  return c.json(failure('The host failed to answer.', DECISIONS.fault), 500)
}
