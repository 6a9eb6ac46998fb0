/** When the host's day begins: minutes after midnight in a time zone. */
export interface QuotaReset {
  minutes: number
  time_zone: string
}

/** Answers when the day of a moment began. Both are in milliseconds since 1970. */
export type DayBeginning = (wall: number) => number

export const DAY_MS = 86_400_000
/** No day is longer, even when clocks are put back by an hour or two. */
const LONGEST_MS = 26 * 3_600_000

/** Days that begin at this time of the zone, also on the days when its clocks change. */
export function daysOf({ minutes, time_zone }: QuotaReset): DayBeginning {
  // en-CA writes dates as ISO does.
  const day = new Intl.DateTimeFormat('en-CA', {
    timeZone: time_zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  const dateOf = (wall: number) => day.format(wall - minutes * 60_000)
  return wall => {
    const date = dateOf(wall)
    let [before, begun] = [wall - LONGEST_MS, wall]
    while (begun - before > 1) {
      const between = Math.floor((before + begun) / 2)
      if (dateOf(between) === date) begun = between
      else before = between
    }
    return begun
  }
}

/** Days of 24 hours, one of which begins at `moment`. */
export function daysFrom(moment: number): DayBeginning {
  return wall => Math.floor((wall - moment) / DAY_MS) * DAY_MS + moment
}

/** The first beginning after a moment. */
export function beginningAfter(days: DayBeginning, wall: number): number {
  let next = days(wall + LONGEST_MS)
  for (let earlier = days(next - 1); earlier > wall; earlier = days(next - 1)) next = earlier
  return next
}

/**
 * What was learned of the moment when the host's day begins, which §8 does not tell: after `from`, and at `to` at the
 * latest, in milliseconds into a UTC day. `to` may lie in the next UTC day. `days`: on how many days it was seen.
 */
export interface LearnedReset {
  from: number
  to: number
  days: number
}

/** A wider bracket tells nothing. */
const WIDEST_MS = DAY_MS / 2
/** A bracket as narrow as this is good enough. */
const CLOSE_MS = 60_000
/** So long after a day should begin it is asked, because clocks differ a little. */
export const MARGIN_MS = 3000
const HOUR_MS = 3_600_000
/** A host's day begins at midnight somewhere, and time zones differ by quarters of an hour. */
const ROUND_MS = [HOUR_MS, HOUR_MS / 2, HOUR_MS / 4]

/**
 * Learns from a credential that was refused for the quota at `refusedAt` and one that was granted at `acceptedAt`, with no
 * answer between them: the host's day began between the two. For example, refused at 23:50 and granted at 00:05 on one
 * day, and refused at 23:58 and granted at 00:20 on the next, give 23:58 to 00:05. Where the two brackets do not meet, the
 * known one was wrong.
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
 * When it is worth asking again, and when the next day has begun at the latest. `exhausted`: when the host first said that
 * the quota is used up. `said`: when it last said so. Null: it still said so after the day should have begun.
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

/** The roundest moment within the bracket, or its middle: whatever the answer is, it narrows the bracket. */
function worthAsking(from: number, to: number): number {
  if (to - from <= CLOSE_MS) return to
  for (const round of ROUND_MS) {
    const moment = (Math.floor(from / round) + 1) * round + MARGIN_MS
    if (moment < to) return moment
  }
  return Math.round((from + to) / 2)
}
