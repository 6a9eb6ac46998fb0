import type { Config } from '../../config/schema.ts'
import { DAILY_QUOTA } from '../../protocol/limits.ts'
import { type Allowance, daysOf } from '../../sync/quota/index.ts'

/** When uploads may go, in minutes after midnight by this machine's clock. */
export type Hours = NonNullable<Config['uploads']['hours']>

const MINUTE_MS = 60_000
/** A border comes within a day. Where a change of the clocks skips it, it comes within the next day. */
const MOST_MINUTES = 2 * 24 * 60

/** Whether uploads may go. `from` belongs to the hours, `to` does not. `wall`: milliseconds since 1970. */
export function isOpen({ from, to }: Hours, wall: number): boolean {
  const now = new Date(wall)
  const minute = now.getHours() * 60 + now.getMinutes()
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

/**
 * When the hours open or close next. It tries each minute, because a border may be skipped or come twice where the
 * clocks change.
 */
export function nextBorder(hours: Hours, wall: number): number {
  const open = isOpen(hours, wall)
  let at = Math.floor(wall / MINUTE_MS) * MINUTE_MS
  for (let minutes = 0; minutes < MOST_MINUTES; minutes++) {
    at += MINUTE_MS
    if (isOpen(hours, at) !== open) break
  }
  return at
}

/** Until when uploads wait; null where they may go. */
export function uploadsWaitUntil(hours: Hours | undefined, wall: number): number | null {
  return hours === undefined || isOpen(hours, wall) ? null : nextBorder(hours, wall)
}

/** How many pictures the account may send (§8), by the config. */
export function allowanceOf({ host, quota }: Pick<Config, 'host' | 'quota'>): Allowance {
  return {
    plan: host.plan,
    limit: host.daily_quota ?? DAILY_QUOTA[host.plan],
    reserve: quota.reserve,
    days: host.quota_reset ? daysOf(host.quota_reset) : null,
    probeEveryMs: quota.probe_every,
  }
}
