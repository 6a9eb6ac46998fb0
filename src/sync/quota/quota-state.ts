import { beginningAfter, DAY_MS, type DayBeginning, daysFrom } from '../../protocol/days.ts'
import type { Synced } from '../../synced/synced.ts'
import type { QuotaRow } from '../../synced/tables/account.ts'
import { afterReset, type LearnedReset, MARGIN_MS } from './quota-day.ts'

/** What the account may send (§8), as the config says. */
export interface Allowance {
  plan: string
  /** Images a day. */
  limit: number
  /**
   * The share of the limit that is kept for pictures that are found on the same day, from 0 to 1. 0 when the oldest
   * pictures are sent first.
   */
  reserve: number
  /** When the host's days begin. Null: albumd learns this from the host's answers. */
  days: DayBeginning | null
  /** While nobody knows when a used-up quota ends, the host is asked again after so many milliseconds. */
  probeEveryMs: number
}

/** The other machines of the account, as far as its quota goes. */
export interface OtherMachines {
  /** How many credentials the host has issued to them today. Only machines count that told so in the last `ms` milliseconds. */
  used(ms: number): number
  /** Tells them that the host has just refused this machine for the quota, and in how many milliseconds there is quota again. */
  refused(resumesInMs: number | null): void
  /** The host grants again: what was told before concerns the day before. */
  grantedAgain(): void
  /** Tells them how many credentials the host has issued to this machine today. */
  granted(today: number): void
}

/** What is known of the quota now. Times are milliseconds since 1970. */
export interface QuotaState {
  /** When the quota's day began. */
  began: number
  ends: number
  /** How many credentials the host issued on the day that began at `began`. */
  used: number
  /**
   * Null while there is quota. `since`: when the host first said that the quota is used up. `ask`: when to ask next.
   * `resumes`: when there is quota again at the latest; null: this is not known.
   */
  exhausted: { since: number; ask: number; resumes: number | null } | null
  learned: LearnedReset | null
}

/** Whether only the reserve is left of the day's uploads. */
export function onlyReserveLeft({ limit, reserve }: Allowance, { used }: Pick<QuotaState, 'used'>): boolean {
  return reserve > 0 && limit - used <= limit * reserve
}

/**
 * When albumd has used less than this share of the limit and the host refuses, something else uses the account too, or the
 * limit is wrong.
 */
const OWN_SHARE = 0.9
/** A learned beginning of the day is tested on its second day, and then on every 8th day, by asking the host earlier. */
const DOUBTED_EVERY = 8

/**
 * The quota now. Until the host has once refused because the quota was used up, a day has 24 hours and begins at midnight
 * UTC.
 */
export function readQuota(
  synced: Pick<Synced, 'account' | 'meta'>,
  allowance: Allowance,
  now: number,
  others?: Pick<OtherMachines, 'used'>,
): QuotaState {
  const learned = synced.meta.get('quota_reset')
  const day = synced.meta.get('quota_day')
  const row = synced.account.quota(day ?? '')
  const began = day === null ? null : Date.parse(day)
  const days = allowance.days ?? daysFrom(learned?.to ?? began ?? 0)
  if (began !== null && row.exhausted !== null && row.said_at !== null) {
    const used = row.used + (others?.used(now - began) ?? 0)
    const { ask, resumes } = end(
      { ...row, used, exhausted: row.exhausted, said_at: row.said_at },
      allowance,
      learned,
    )
    // When the clock was set back, the recorded time to ask lies too far ahead.
    const isDue = now < row.said_at || synced.meta.get('quota_asked') !== null
    return {
      began,
      ends: resumes ?? beginningAfter(days, now),
      used,
      exhausted: { since: row.exhausted, ask: isDue ? now : ask, resumes },
      learned,
    }
  }
  const goesOn = began !== null && began <= now && now < beginningAfter(days, began)
  const current = goesOn ? began : days(now)
  const own = goesOn ? row.used : synced.account.quota(dayOf(current)).used
  const used = own + (others?.used(now - current) ?? 0)
  return { began: current, ends: beginningAfter(days, now), used, exhausted: null, learned }
}

/**
 * Whether the host said that the quota is used up long before albumd reached the limit. Then the host allows less than the
 * config says, or something else uses the account too. Of a limit that the config has got since then, the host has said
 * nothing yet.
 */
export function isUsedUpEarly(
  { account, meta }: Pick<Synced, 'account' | 'meta'>,
  { days, limit }: Allowance,
  { used, exhausted, learned }: QuotaState,
): boolean {
  if (exhausted === null || limit !== (meta.get('quota_limit') ?? limit)) return false
  // While nobody knows when the host's day begins, the host may count uploads of two days together. So the uploads of the
  // last two days are counted.
  const isWholeDay = days !== null || learned !== null
  const sent = isWholeDay ? used : account.usedAfter(dayOf(exhausted.since - 2 * DAY_MS))
  return sent < limit * OWN_SHARE
}

/** The name of a day in the records: the time of its beginning in ISO 8601. */
export function dayOf(began: number): string {
  return new Date(began).toISOString()
}

type Exhausted = QuotaRow & { exhausted: number; said_at: number }

/**
 * When there is quota again after a refusal: by the config, or else by the time that the host named, or else by what was
 * learned.
 */
function end(
  { exhausted, said_at, resumes_at, refused, used }: Exhausted,
  { days, limit, probeEveryMs }: Allowance,
  learned: LearnedReset | null,
): { ask: number; resumes: number | null } {
  const soon = { ask: said_at + probeEveryMs, resumes: null }
  if (days) {
    const resumes = beginningAfter(days, exhausted)
    return said_at < resumes ? { ask: resumes + MARGIN_MS, resumes } : soon
  }
  if (resumes_at !== null) return { ask: resumes_at + MARGIN_MS, resumes: resumes_at }
  const known = learned && afterReset(learned, exhausted, said_at)
  if (!known) return soon
  // When albumd has used little of the limit, and on every 8th day, the host is asked before the learned time, because its
  // day may begin earlier than was learned.
  const isDoubtful = used < limit * OWN_SHARE || learned.days % DOUBTED_EVERY === 1
  const doubt = said_at + probeEveryMs * 2 ** Math.max(0, refused - 1)
  return isDoubtful ? { ...known, ask: Math.min(known.ask, doubt) } : known
}

/** What a forecast is made from. Times are milliseconds since 1970. */
export interface Backlog {
  /** How many pictures wait for their upload. */
  pictures: number
  now: number
  /** How many pictures may still be sent today. */
  left: number
  /** How many pictures may be sent on each day that follows. */
  perDay: number
  /** When the next day begins. */
  nextDay: number
  /** Pictures a second; null while nothing was measured. */
  rate: number | null
}

/**
 * `days`: how many days it takes until all pictures are uploaded, rounded up; 0 is today. `doneBy`: milliseconds since
 * 1970; null when nobody can tell.
 */
export interface Forecast {
  days: number
  doneBy: number | null
}

/** When all waiting pictures will be uploaded, by the quota and the pace so far. */
export function forecast({ pictures, now, left, perDay, nextDay, rate }: Backlog): Forecast {
  const perMs = rate === null ? Number.POSITIVE_INFINITY : rate / 1000
  // While the pace is not known, it counts as infinite, and no time must not be multiplied by it.
  const today = nextDay > now ? Math.min(left, perMs * (nextDay - now)) : 0
  if (pictures <= today) return { days: 0, doneBy: rate === null ? null : Math.round(now + pictures / perMs) }
  const aDay = Math.min(perDay, perMs * DAY_MS)
  if (aDay < 1) return { days: 0, doneBy: null }
  const rest = pictures - Math.max(0, today)
  const whole = Math.ceil(rest / aDay) - 1
  const doneBy = Math.round(nextDay + whole * DAY_MS + (rest - whole * aDay) / perMs)
  return { days: Math.max(1, Math.ceil((doneBy - now) / DAY_MS)), doneBy }
}

/** How many uploads a measurement of the pace needs. */
const UPLOADS_NEEDED = 20

/**
 * The pace in pictures a second, after `uploaded` pictures in `ms` milliseconds. `before`: the pace that was measured
 * before, which weighs as much as the new one. Null: too few pictures were uploaded to measure the pace.
 */
export function rateOf(uploaded: number, ms: number, before: number | null): number | null {
  if (uploaded < UPLOADS_NEEDED || ms <= 0) return null
  const rate = (uploaded * 1000) / ms
  return before === null ? rate : (before + rate) / 2
}
