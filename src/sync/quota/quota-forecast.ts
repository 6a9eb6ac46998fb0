import { DAY_MS } from './quota-day.ts'

/** What a forecast is made from. Times are milliseconds since 1970. */
export interface Outlook {
  /** How many wait for their upload. */
  pictures: number
  now: number
  /** How many may be sent today, and on each day that follows. */
  left: number
  perDay: number
  /** When the next day begins. */
  nextDay: number
  /** Pictures a second; null while nothing was measured. */
  rate: number | null
}

/** `days`: about so many, rounded up; 0: within what is left of today. `doneBy`: null where nobody can tell. */
export interface Forecast {
  days: number
  doneBy: number | null
}

/** When a backlog will be done, by the quota and the pace so far. */
export function forecast({ pictures, now, left, perDay, nextDay, rate }: Outlook): Forecast {
  const perMs = rate === null ? Number.POSITIVE_INFINITY : rate / 1000
  const today = Math.min(left, perMs * (nextDay - now))
  if (pictures <= today) return { days: 0, doneBy: rate === null ? null : Math.round(now + pictures / perMs) }
  const aDay = Math.min(perDay, perMs * DAY_MS)
  if (aDay < 1) return { days: 0, doneBy: null }
  const rest = pictures - Math.max(0, today)
  const whole = Math.ceil(rest / aDay) - 1
  const doneBy = Math.round(nextDay + whole * DAY_MS + (rest - whole * aDay) / perMs)
  return { days: Math.max(1, Math.ceil((doneBy - now) / DAY_MS)), doneBy }
}

/** Fewer uploads tell nothing of the pace. */
const TELLING = 20

/** The pace, pictures a second, after so many were uploaded in `ms`; null where that tells nothing new. */
export function rateOf(uploaded: number, ms: number, before: number | null): number | null {
  if (uploaded < TELLING || ms <= 0) return null
  const rate = (uploaded * 1000) / ms
  return before === null ? rate : (before + rate) / 2
}
