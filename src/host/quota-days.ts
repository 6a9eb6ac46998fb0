/** When the quota's day (§8) begins: minutes after midnight in a time zone. */
export interface DayBegins {
  minutes: number
  time_zone: string
}

export const MIDNIGHT_UTC: DayBegins = { minutes: 0, time_zone: 'UTC' }

export interface QuotaDays {
  /** The number of the day at a moment. Moments are milliseconds since 1970. */
  numberOf(now: number): number
  /** When the day of a moment ends. */
  endOf(now: number): number
}

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** The longest day: 24 hours, and two hours by which a zone's clocks may be put back. */
const LONGEST = DAY + 120 * MINUTE

/** Days that begin at the same time by the zone's clocks, which may be put forward or back within a day. */
export function quotaDays({ minutes, time_zone }: DayBegins): QuotaDays {
  const clock = zoneClock(time_zone)
  const numberOf = (now: number) => Math.floor((clock(now) - minutes * MINUTE) / DAY)
  return {
    numberOf,
    endOf(now) {
      const number = numberOf(now)
      let [inside, beyond] = [now, now + LONGEST]
      while (beyond - inside > 1) {
        const between = Math.floor((inside + beyond) / 2)
        if (numberOf(between) > number) beyond = between
        else inside = between
      }
      return beyond
    },
  }
}

/** What the clocks of a time zone show at a moment, as milliseconds since 1970 as if they showed UTC. */
function zoneClock(timeZone: string): (now: number) => number {
  if (timeZone === 'UTC') return now => now
  const field = 'numeric'
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: field, month: field, day: field, hour: field, minute: field, second: field },
  })
  return now => {
    const shown = Object.fromEntries(
      format.formatToParts(now).map(({ type, value }) => [type, Number(value)]),
    )
    const { year, month, day, hour, minute, second } = shown as Record<string, number>
    return Date.UTC(year!, month! - 1, day, hour, minute, second)
  }
}
