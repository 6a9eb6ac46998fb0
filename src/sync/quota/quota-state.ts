import { DAY_MS, type Millis } from '../../protocol/clock.ts'
import { beginningAfter, type DayBeginning, daysFrom } from '../../protocol/days.ts'
import type { Records } from '../../synced/synced.ts'
import type { QuotaRow } from '../../synced/tables/account.ts'

/** How long after the beginning of its day the host is asked, because its clock may differ. */
const MARGIN_MS = 3000

/** What the account may send (§8), as the config says. */
export interface Allowance {
  plan: string
  /** Images a day. */
  limit: number
  /** The share of the limit kept for pictures found on the same day, from 0 to 1. 0: the oldest are sent first. */
  reserve: number
  /** When the host's days begin. Null: nobody knows, so the host is asked when the quota is used up. */
  days: DayBeginning | null
  /** How often the host is asked while nobody knows when a used-up quota ends. */
  probeEveryMs: number
}

/** The other machines of the account, for its quota. */
export interface OtherMachines {
  /** How many credentials the host has issued to them today. Only machines that told so in the last `ms` milliseconds count. */
  used(ms: number): number
  /** Tells them that the host has just refused this machine for the quota, and in how many ms there is quota again. */
  refused(resumesInMs: number | null): void
  /** Tells them that the host grants again, so that earlier refusals concern the day before. */
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
  /** Null while there is quota. `since`: the first refusal. `ask`: when to ask next. `resumes`: if known, when it returns. */
  exhausted: { since: Millis; ask: Millis; resumes: Millis | null } | null
  /** Whether the config, or the time at which the quota last opened again, tells `ends`. */
  isDayKnown: boolean
}

/** Whether only the reserve is left of the day's uploads. */
export function onlyReserveLeft({ limit, reserve }: Allowance, { used }: { used: number }): boolean {
  return reserve > 0 && limit - used <= limit * reserve
}

/** When the host refuses before this share is used, something else uses the account, or the limit is wrong. */
const OWN_SHARE = 0.9

/** The quota now. Where the config does not say when days begin, a day has 24 hours, from the time at which the quota last opened
 * again, or else from midnight UTC. This time is used only for estimates. */
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
    // The clock was set back, so the recorded time to ask lies too far ahead.
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

/** Whether the host said long before the limit that the quota is used up. It allows less, or something else uses the account. It
 * has said nothing of a limit that was set later. */
export function isUsedUpEarly(
  { account, meta }: Records,
  { limit, days }: Allowance,
  { used, exhausted }: QuotaState,
): boolean {
  if (exhausted === null || limit !== (meta.get('quota_limit') ?? limit)) return false
  // Where days are not known, the host may free quota bit by bit. So the last two days are counted.
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
  // The host refused after the time at which the config says that the day begins. So the config is wrong.
  return resumes === null || said_at >= resumes
    ? { ask: said_at + probeEveryMs, resumes: null }
    : { ask: resumes + MARGIN_MS, resumes }
}

const UPLOADS_NEEDED = 20

/** The pace in pictures a second. The earlier pace `before` weighs as much as the new one. Null: too few pictures to tell. */
export function rateOf(uploaded: number, ms: number, before: number | null): number | null {
  if (uploaded < UPLOADS_NEEDED || ms <= 0) return null
  const rate = (uploaded * 1000) / ms
  return before === null ? rate : (before + rate) / 2
}
