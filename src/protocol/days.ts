import { DAY_MS, HOUR_MS, type Millis } from './clock.ts'
/** When the quota's day begins (§8): minutes after midnight, by the clocks of a time zone. */
export interface DayBegins {
  minutes: number
  time_zone: string
}

export const MIDNIGHT_UTC: DayBegins = { minutes: 0, time_zone: 'UTC' }

/** Returns when the day of a moment began. */
export type DayBeginning = (wall: Millis) => Millis

/** The longest day: 24 hours, and two hours because the zone's clocks may be put back. */
const LONGEST_MS = 26 * HOUR_MS
/** For how many days it is remembered when they began. */
const DAYS_KNOWN = 8

/** Returns a function for days that begin at this time by the zone's clocks. It is right when these are put forward or back. */
export function daysOf({ minutes, time_zone }: DayBegins): DayBeginning {
  if (time_zone === 'UTC') return daysFrom(minutes * 60_000)
  // The locale sv-SE writes times as YYYY-MM-DD HH:MM:SS.
  const clock = new Intl.DateTimeFormat('sv-SE', {
    timeZone: time_zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  const numberOf = (wall: number) => {
    const shown = Date.parse(`${clock.format(wall).replace(' ', 'T')}Z`)
    return Math.floor((shown - minutes * 60_000) / DAY_MS)
  }
  // The beginnings are remembered: a search asks for 28 times, and the quota is read before each upload.
  const known = new Map<number, number>()
  return wall => {
    const number = numberOf(wall)
    const found = known.get(number)
    if (found !== undefined) return found
    let [before, begun] = [wall - LONGEST_MS, wall]
    while (begun - before > 1) {
      const between = Math.floor((before + begun) / 2)
      if (numberOf(between) === number) begun = between
      else before = between
    }
    if (known.size === DAYS_KNOWN) known.clear()
    known.set(number, begun)
    return begun
  }
}

/** Returns a function for days of 24 hours, one of which begins at `moment`. */
export function daysFrom(moment: number): DayBeginning {
  return wall => Math.floor((wall - moment) / DAY_MS) * DAY_MS + moment
}

/** When the first day after a moment begins. */
export function beginningAfter(days: DayBeginning, wall: number): number {
  let next = days(wall + LONGEST_MS)
  for (let earlier = days(next - 1); earlier > wall; earlier = days(next - 1)) next = earlier
  return next
}
