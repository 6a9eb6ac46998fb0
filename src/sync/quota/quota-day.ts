/** When the host's day begins: minutes after midnight in a time zone. */
export interface QuotaReset {
  minutes: number
  time_zone: string
}

/** Of a moment, the latest beginning of a day at or before it; both in milliseconds since 1970. */
export type DayBeginning = (wall: number) => number

export const DAY_MS = 86_400_000
/** No day is longer, nor is the next beginning further away: clocks are put back by an hour or two. */
const LONGEST_MS = 26 * 3_600_000

/** Days that begin at this time there, on the days when the clocks change as well. */
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
