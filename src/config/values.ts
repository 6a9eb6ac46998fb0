import { isIPv4, isIPv6 } from 'node:net'
import bytes from 'bytes'
import { createTask, validate as isCron } from 'node-cron'
import durationOf from 'parse-duration'
import { z } from 'zod'
import { ALBUM_NAME_MAX } from '../protocol/limits.ts'

/**
 * The kinds of values that a config holds, from how they are written to the units that the program counts in.
 * Each says in its error what would be right; `wording.ts` puts before it what is there.
 */

/** Keys and their values; others are refused. */
export function section<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject(shape, { error: 'must be a mapping of keys to values' })
}

/** Text. YAML reads an album called 2024 as a number. */
export function text(what: string) {
  return z.string({
    error: ({ input }) =>
      typeof input === 'number' || typeof input === 'boolean'
        ? `must be ${what}; put it in quotes`
        : `must be ${what}`,
  })
}

export function wholeNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

/** So many a second; Infinity for "unlimited". */
export function rate(most: number) {
  const error = `must be a whole number from 1 to ${most}, or "unlimited"`
  const unlimited = z.literal('unlimited').transform(() => Number.POSITIVE_INFINITY)
  return z.union([z.int().min(1, { error }).max(most, { error }), unlimited], { error })
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` })
}

/**
 * A value with a spelling of its own. `read` answers undefined where it is spelt otherwise. A bare number reaches it
 * as text, so that what lacks its unit is refused in the same words. `pattern` is the spelling as far as editors look.
 */
function spelt<T>(what: string, read: (text: string) => T | undefined, pattern?: RegExp) {
  const error = `must be ${what}`
  const written = z.union([z.string(), z.number()], { error })
  return (pattern ? written.meta({ pattern: pattern.source }) : written).transform((written, context) => {
    const value = read(String(written).trim())
    if (value !== undefined) return value
    context.addIssue(error)
    return z.NEVER
  })
}

// parse-duration skips what it does not know: "5 parsecs 3m" would be three minutes, "1,5s" fifteen seconds.
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w)\s*)+$/

/** Milliseconds, or null where it is no duration. A zero needs no unit. */
export function parseDuration(written: string): number | null {
  if (written === '0') return 0
  return DURATION.test(written) ? Math.round(durationOf(written) ?? 0) : null
}

/** Milliseconds. The limits are written as durations too. */
export function duration(least: string, most: string) {
  const [from, to] = [parseDuration(least) ?? 0, parseDuration(most) ?? 0]
  const read = (written: string) => {
    const value = parseDuration(written)
    return value !== null && value >= from && value <= to ? value : undefined
  }
  return spelt(`a duration such as 90s, 10m or 1h30m, from ${least} to ${most}`, read, DURATION)
}

/** Bytes, or null where it is no size. A KB is 1024 bytes. */
export function parseSize(written: string): number | null {
  return /^\d+(?:\.\d+)?\s*[KMGT]B$/i.test(written) ? bytes.parse(written) : null
}

/** Bytes a second. */
export const bandwidth = spelt(
  'a rate of at least 1KB/s, such as 500KB/s or 2MB/s',
  written => {
    const perSecond = written.endsWith('/s') ? parseSize(written.slice(0, -2)) : null
    return perSecond !== null && perSecond >= 1024 ? perSecond : undefined
  },
  /^\d+(\.\d+)?\s*[KMGTkmgt][Bb]\/s$/,
)

/** A fraction: 25% is 0.25. */
export const percentage = spelt(
  'a percentage such as 25%',
  written => {
    const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(written)?.[1]
    return percent !== undefined && Number(percent) <= 100 ? Number(percent) / 100 : undefined
  },
  /^\d+(\.\d+)?\s*%$/,
)

/** A cron expression, as it is written. */
export const schedule = spelt('a cron expression such as "0 */6 * * *"', written =>
  comes(written) ? written : undefined,
)

/** A cron expression, or null for "off". */
export const scheduleOrOff = spelt('a cron expression such as "30 3 * * 0", or "off"', written =>
  written === 'off' ? null : comes(written) ? written : undefined,
)

/** node-cron takes the 30th of February too, and fails when it is asked for the next one. */
function comes(written: string): boolean {
  if (!isCron(written)) return false
  // Every month has such a day.
  if (written.trim().split(/\s+/).at(-3) === '*') return true
  const task = createTask(written, () => {})
  try {
    return task.getNextRuns(1).length > 0
  } catch {
    return false
  } finally {
    void task.destroy()
  }
}

/** Minutes after midnight. */
function timeOfDay(written: string): number | undefined {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(written) ?? []
  return Number(hours) < 24 && Number(minutes) < 60 ? Number(hours) * 60 + Number(minutes) : undefined
}

/** Minutes after midnight, in the machine's time zone. `from` is later than `to` where midnight lies between. */
export const hours = spelt(
  'two different times such as 22:00-07:00',
  written => {
    const [from, to, ...rest] = written.split('-').map(time => timeOfDay(time.trim()))
    return from === undefined || to === undefined || from === to || rest.length > 0 ? undefined : { from, to }
  },
  /^\d{1,2}:\d{2}\s*-\s*\d{1,2}:\d{2}$/,
)

/** Minutes after midnight there. */
export const quotaReset = spelt(
  'a time and a time zone such as "00:00 Asia/Shanghai"',
  written => {
    const [time = '', time_zone = '', ...rest] = written.split(/\s+/)
    const minutes = timeOfDay(time)
    return minutes !== undefined && isTimeZone(time_zone) && rest.length === 0
      ? { minutes, time_zone }
      : undefined
  },
  /^\d{1,2}:\d{2}\s+\S+$/,
)

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** An address to listen at, or null for "off". Port 0 is any free one. */
export const listenAddress = spelt('an address such as 127.0.0.1:8687 or [::1]:8687, or "off"', written => {
  if (written === 'off') return null
  const [, six, four, port] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(written) ?? []
  const host = six ?? four ?? ''
  const known = six === undefined ? isIPv4(host) || host === 'localhost' : isIPv6(host)
  return known && Number(port) < 65_536 ? { host, port: Number(port) } : undefined
})

/** A path as it is written. `paths.ts` makes it absolute. */
export function path(what: string) {
  const error = `must be ${what}`
  return text(what)
    .min(1, { error })
    .refine(written => !written.includes('\0'), { error })
}

/** Slash-separated album names (§4.6: at most 100 characters each). "" is the host's root. */
export const albumPath = text(
  'an album such as Photos or Photos/Family, or "" for the host\'s root',
).superRefine((written, context) => {
  const names = written === '' ? [] : written.split('/')
  if (written.startsWith('/') || written.endsWith('/')) context.addIssue('must not begin or end with a slash')
  else if (names.includes('')) context.addIssue('must not have two slashes in a row')
  else if (names.some(name => name.length > ALBUM_NAME_MAX))
    context.addIssue(`must have names of at most ${ALBUM_NAME_MAX} characters between its slashes`)
})
