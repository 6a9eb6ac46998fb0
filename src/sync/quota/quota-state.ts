import type { Synced } from '../../synced/synced.ts'
import type { QuotaRow } from '../../synced/tables/account.ts'
import {
  afterReset,
  beginningAfter,
  DAY_MS,
  type DayBeginning,
  daysFrom,
  type LearnedReset,
  MARGIN_MS,
} from './quota-day.ts'

/** What the account may send (§8), as the config has it. */
export interface Allowance {
  plan: string
  /** Images a day. */
  limit: number
  /** This share of the limit is kept for pictures that are found on the same day. */
  reserve: number
  /** The host's days. Null: they are to be learned. */
  days: DayBeginning | null
  /** How often a quota that is used up is asked about, while nothing is known of its end. */
  probeEveryMs: number
}

/** The quota now, as far as it is known. Times are milliseconds since 1970. */
export interface QuotaState {
  /** When its day began. */
  began: number
  ends: number
  /** Credentials that the host issued on that day. */
  used: number
  /** `ask`: when to ask next. `resumes`: when there is quota again at the latest, or null where that is not known. */
  exhausted: { since: number; ask: number; resumes: number | null } | null
  learned: LearnedReset | null
}

/** When the host says that the quota is used up, and we used a smaller share of the limit, others used the rest. */
const OURS = 0.9
/** What was learned is tested on its second day, and then after every so many days. */
const DOUBTED_EVERY = 8

/** While the host has said nothing, days are of 24 hours, and the first day is UTC's. */
export function readQuota(
  synced: Pick<Synced, 'account' | 'meta'>,
  allowance: Allowance,
  now: number,
): QuotaState {
  const learned = learnedReset(synced)
  const day = synced.meta.get('quota_day')
  const row = synced.account.quota(day ?? '')
  const began = day === null ? null : Date.parse(day)
  const days = allowance.days ?? daysFrom(learned?.to ?? began ?? 0)
  if (began !== null && row.exhausted !== null && row.said_at !== null) {
    const { ask, resumes } = end(
      { ...row, exhausted: row.exhausted, said_at: row.said_at },
      allowance,
      learned,
    )
    const isSetBack = now < row.said_at
    return {
      began,
      ends: resumes ?? beginningAfter(days, now),
      used: row.used,
      // When the clock was set back, the end would seem that much farther away.
      exhausted: { since: row.exhausted, ask: isSetBack ? now : ask, resumes },
      learned,
    }
  }
  const goesOn = began !== null && began <= now && now < beginningAfter(days, began)
  const current = goesOn ? began : days(now)
  const used = goesOn ? row.used : synced.account.quota(dayOf(current)).used
  return { began: current, ends: beginningAfter(days, now), used, exhausted: null, learned }
}

/**
 * Whether the host said that the quota is used up long before the limit: it allows less than the config has it, or
 * something else uses the account too.
 */
export function isUsedUpEarly(
  { account }: Pick<Synced, 'account'>,
  { days, limit }: Allowance,
  { used, exhausted, learned }: QuotaState,
): boolean {
  if (exhausted === null) return false
  // Where nobody knows when the host's day begins, all uploads of the last two days may be of it.
  const isWholeDay = days !== null || learned !== null
  const sent = isWholeDay ? used : account.usedAfter(dayOf(exhausted.since - 2 * DAY_MS))
  return sent < limit * OURS
}

export function learnedReset({ meta }: Pick<Synced, 'meta'>): LearnedReset | null {
  return meta.get('quota_reset')
}

/** How a day is called in the records. */
export function dayOf(began: number): string {
  return new Date(began).toISOString()
}

type Exhausted = QuotaRow & { exhausted: number; said_at: number }

/** The config counts more than the host's promise, and the promise more than what was learned. */
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
  // To ask only after the learned moment would never show that the day begins earlier.
  const isDoubtful = used < limit * OURS || learned.days % DOUBTED_EVERY === 1
  const doubt = said_at + probeEveryMs * 2 ** Math.max(0, refused - 1)
  return isDoubtful ? { ...known, ask: Math.min(known.ask, doubt) } : known
}
