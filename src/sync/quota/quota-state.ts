import { DAY_MS, type Millis } from '../../protocol/clock.ts'
import { beginningAfter, type DayBeginning, daysFrom } from '../../protocol/days.ts'
import type { Records } from '../../synced/synced.ts'
import type { QuotaRow } from '../../synced/tables/account.ts'

/** The host is asked so much later than the time at which its day should begin, because its clock may differ. */
const MARGIN_MS = 3000

/** What the account may send (§8), as the config says. */
export interface Allowance {
  plan: string
  /** Images a day. */
  limit: number
  /** The share of the limit kept for pictures found on the same day, from 0 to 1. 0: the oldest are sent first. */
  reserve: number
  /** When the host's days begin. Null: nobody knows, so that a used-up quota is asked about. */
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

/** What is known of the quota now. */
export interface QuotaState {
  /** When the quota's day began. */
  began: Millis
  ends: Millis
  /** How many credentials the host issued on the day that began at `began`. */
  used: number
  /** Null while there is quota. `since`: the first refusal. `ask`: when to ask next. `resumes`: null: not known. */
  exhausted: { since: Millis; ask: Millis; resumes: Millis | null } | null
  /** Whether `ends` follows from the config or from the time at which the quota last opened again. */
  isDayKnown: boolean
}

/** Whether only the reserve is left of the day's uploads. */
export function onlyReserveLeft({ limit, reserve }: Allowance, { used }: { used: number }): boolean {
  return reserve > 0 && limit - used <= limit * reserve
}

/** Refused with less than this share used: something else uses the account, or the limit is wrong. */
const OWN_SHARE = 0.9

/** The quota now. Where the config does not say when a day begins, it has 24 hours from the time at which the quota last
 * opened again, or else from midnight UTC. By this time only estimates are made. */
export function readQuota(
  synced: Records,
  allowance: Allowance,
  now: number,
  others?: { used: OtherMachines['used'] },
): QuotaState {
  const opened = synced.meta.get('quota_opened')
  const day = synced.meta.get('quota_day')
  const row = synced.account.quota(day ?? '')
  const began = day === null ? null : Date.parse(day)
  const days = allowance.days ?? daysFrom(opened ?? 0)
  const isDayKnown = allowance.days !== null || opened !== null
  if (began !== null && row.exhausted !== null && row.said_at !== null) {
    const used = row.used + (others?.used(now - began) ?? 0)
    const { ask, resumes } = end({ ...row, exhausted: row.exhausted, said_at: row.said_at }, allowance)
    // When the clock was set back, the recorded time to ask lies too far ahead.
    const isDue = now < row.said_at || synced.meta.get('quota_asked') !== null
    return {
      began,
      ends: resumes ?? beginningAfter(days, now),
      used,
      exhausted: { since: row.exhausted, ask: isDue ? now : ask, resumes },
      isDayKnown,
    }
  }
  const goesOn = began !== null && began <= now && now < beginningAfter(days, began)
  const current = goesOn ? began : days(now)
  const own = goesOn ? row.used : synced.account.quota(dayOf(current)).used
  const used = own + (others?.used(now - current) ?? 0)
  return { began: current, ends: beginningAfter(days, now), used, exhausted: null, isDayKnown }
}

/** Whether the host said long before the limit that the quota is used up: it allows less, or something else uses the
 * account. Of a limit that is new since then it has said nothing. */
export function isUsedUpEarly(
  { account, meta }: Records,
  { limit, days }: Allowance,
  { used, exhausted }: QuotaState,
): boolean {
  if (exhausted === null || limit !== (meta.get('quota_limit') ?? limit)) return false
  // Without a day the host may free the quota bit by bit, so the last two days are counted.
  const sent = days ? used : account.usedAfter(dayOf(exhausted.since - 2 * DAY_MS))
  return sent < limit * OWN_SHARE
}

/** The name of a day in the records: the time of its beginning in ISO 8601. */
export function dayOf(began: number): string {
  return new Date(began).toISOString()
}

type Exhausted = QuotaRow & { exhausted: number; said_at: number }

/** When to ask about a used-up quota, and when there is quota again by the config or by the host's own word. */
function end(
  { exhausted, said_at, resumes_at }: Exhausted,
  { days, probeEveryMs }: Allowance,
): { ask: number; resumes: number | null } {
  const resumes = days ? beginningAfter(days, exhausted) : resumes_at
  // A refusal after the time that the config says: the config is wrong.
  return resumes === null || said_at >= resumes
    ? { ask: said_at + probeEveryMs, resumes: null }
    : { ask: resumes + MARGIN_MS, resumes }
}

/** How many uploads a measurement of the pace needs. */
const UPLOADS_NEEDED = 20

/** The pace in pictures a second; the one `before` weighs as much. Null: too few pictures to tell. */
export function rateOf(uploaded: number, ms: number, before: number | null): number | null {
  if (uploaded < UPLOADS_NEEDED || ms <= 0) return null
  const rate = (uploaded * 1000) / ms
  return before === null ? rate : (before + rate) / 2
}
