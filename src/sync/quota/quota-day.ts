import { DAY_MS } from '../../protocol/days.ts'

/**
 * When the host's day begins, learned from answers, because §8 does not tell: after `from`, and at `to` at the latest. Both
 * are milliseconds after midnight UTC. `to` may lie in the next UTC day. `days`: how many days have confirmed this.
 */
export interface LearnedReset {
  from: number
  to: number
  days: number
}

/**
 * The time between `from` and `to` is called the bracket. A bracket that is wider than this is forgotten, because it tells
 * too little.
 */
const WIDEST_MS = DAY_MS / 2
/** A bracket that is as narrow as this is not narrowed further: the host is asked at its end. */
const CLOSE_MS = 60_000
/** The host is asked so many milliseconds after the time at which its day should begin, because its clock may differ. */
export const MARGIN_MS = 3000
const HOUR_MS = 3_600_000
/** A host's day begins at midnight of some time zone, so at a full, half or quarter hour of UTC. */
const ROUND_MS = [HOUR_MS, HOUR_MS / 2, HOUR_MS / 4]

/**
 * Learns from two answers that follow each other: at `refusedAt` a credential was refused because the quota was used up,
 * and at `acceptedAt` a credential was granted. The host's day began between these two times. An example: a refusal at
 * 23:50 and a grant at 00:05, and on the next day a refusal at 23:58 and a grant at 00:20, give the bracket from 23:58 to
 * 00:05. When the brackets of two days do not overlap, the older bracket was wrong, and the newer bracket replaces it.
 */
export function learnReset(
  known: LearnedReset | null,
  refusedAt: number,
  acceptedAt: number,
): LearnedReset | null {
  const width = acceptedAt - refusedAt
  if (width <= 0 || width >= DAY_MS) return known
  const from = refusedAt - Math.floor(refusedAt / DAY_MS) * DAY_MS
  for (const shift of known ? [-DAY_MS, 0, DAY_MS] : []) {
    const later = Math.max(known!.from, from + shift)
    const earlier = Math.min(known!.to, from + shift + width)
    if (later < earlier) return { from: later, to: earlier, days: known!.days + 1 }
  }
  return width > WIDEST_MS ? null : { from, to: from + width, days: 1 }
}

/**
 * When a used-up quota ends, by the learned beginning of the day. `exhausted`: when the host first said that the quota is
 * used up. `said`: when the host last said this. Answers when to ask the host again (`ask`), and when the next day has
 * begun at the latest (`resumes`). Null: the host said this after the learned beginning of the day, so what was learned is
 * wrong.
 */
export function afterReset(
  { from, to }: LearnedReset,
  exhausted: number,
  said: number,
): { ask: number; resumes: number } | null {
  const shift = (Math.floor((exhausted - to) / DAY_MS) + 1) * DAY_MS
  const resumes = to + shift
  if (said >= resumes) return null
  return { ask: worthAsking(Math.max(from + shift, said), resumes), resumes }
}

/**
 * When to ask: at a full hour within the bracket, or else at a half or quarter hour, or else in the middle of the bracket.
 * An example: in the bracket from 23:40 to 00:20 the host is asked at 00:00. Whether the host grants or refuses, the
 * bracket becomes narrower.
 */
function worthAsking(from: number, to: number): number {
  if (to - from <= CLOSE_MS) return to
  for (const round of ROUND_MS) {
    const moment = (Math.floor(from / round) + 1) * round + MARGIN_MS
    if (moment < to) return moment
  }
  return Math.round((from + to) / 2)
}
