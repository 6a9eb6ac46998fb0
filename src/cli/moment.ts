import { parseDuration } from '../config/values.ts'
import type { Millis } from '../protocol/clock.ts'
import { localTime, printable, shellWord } from '../words/text.ts'
import { Problem } from './problem.ts'

const MOMENT_FORMS =
  'how long ago (90m, 1h30m, 2d, 2w) or when (18:00, 2026-11-20, "2026-11-20 18:00", 2026-11-20T18:00:00Z)'

/** The earliest moment that is accepted. */
const EARLIEST = Date.parse('0001-01-01')

const WRITTEN =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i

/** The time that a person means: so long ago ("2d", "90m"), the last time that it was so late ("18:00"), or a date with or
 * without a time of day ("2026-11-20 18:00", ISO 8601), by this machine's time zone when none is named. Throws Problem when
 * the text is no time, and for a time that has not come yet. */
export function parseMoment(option: string, text: string, now: number): Millis {
  const written = text.trim()
  const ago = parseDuration(written)
  const moment = ago === null ? (dateIn(written) ?? lastTime(written, now)) : now - ago
  const given = `${option} ${shellWord(printable(text))}`
  if (moment === null || moment < EARLIEST) throw new Problem(`${given} is no time. Say ${MOMENT_FORMS}`)
  if (moment > now) throw new Problem(`${given}: ${localTime(moment)} has not come yet`)
  return moment
}

function lastTime(written: string, now: Millis): Millis | null {
  if (!/^\d\d?:\d\d(:\d\d)?$/.test(written)) return null
  const time = written.replace(/^\d:/, '0$&')
  const day = new Date(now)
  const on = () => dateIn(`${localTime(day.getTime()).slice(0, 'yyyy-mm-dd'.length)} ${time}`)
  const today = on()
  if (today === null || today <= now) return today
  // Days need not be 24 hours long.
  day.setDate(day.getDate() - 1)
  return on()
}

function dateIn(written: string): number | null {
  const found = WRITTEN.exec(written)
  if (!found) return null
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(part => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const ms = Number((found[7] ?? '').padEnd(3, '0'))
  const utc = Date.UTC(year, month - 1, day, hour, minute, second, ms)
  // The 31st of November, or a 25th hour, would silently mean another time. The year 1 would mean 1901.
  const isReal =
    new Date(utc).getUTCFullYear() === year &&
    new Date(utc).getUTCMonth() === month - 1 &&
    new Date(utc).getUTCDate() === day &&
    minute < 60 &&
    second < 60
  if (!isReal || hour > 23) return null
  const zone = found[8]
  // In an hour that the clocks skip, the result is as long after its beginning.
  if (zone === undefined) return new Date(year, month - 1, day, hour, minute, second, ms).getTime()
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [null, '+', '0', '0']
  // No time zone is further from Greenwich.
  if (Number(hours) > 14 || Number(minutes ?? 0) > 59) return null
  const east = Number(hours) * 60 + Number(minutes ?? 0)
  return utc - (sign === '-' ? -east : east) * 60_000
}
