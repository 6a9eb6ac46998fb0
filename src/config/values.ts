import { isIPv4, isIPv6 } from 'node:net'
import bytes from 'bytes'
import { createTask, validate as isCron } from 'node-cron'
import { z } from 'zod'
import { DAY_MS, HOUR_MS } from '../protocol/clock.ts'
import { isLoopback, VERSION_PATH } from '../protocol/endpoints.ts'
import { ALBUM_NAME_MAX } from '../protocol/limits.ts'

/** The kinds of values that a config holds. Each kind turns a text of the file into the unit that the program counts in.
 * Its error says what would be right, with the limits; `wording.ts` adds what the file says. */

/** A mapping with these keys. Other keys are refused. */
export function section<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject(shape, { error: 'must be a mapping of keys to values' })
}

/** Text. A number is taken as text, because YAML reads an album called 2024 as a number. */
export function text(what: string) {
  return z.string({
    error: ({ input }) =>
      typeof input === 'number' || typeof input === 'boolean'
        ? `must be ${what}; put it in quotes`
        : `must be ${what}`,
  })
}

export function filledText(what: string) {
  return text(what).min(1, { error: `must be ${what}` })
}

export function wholeNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

export function countOrUnlimited(most: number) {
  const error = `must be a whole number from 1 to ${most}, or "unlimited"`
  const infinite = z.literal('unlimited').transform(() => Number.POSITIVE_INFINITY)
  return z.union([z.int().min(1, { error }).max(most, { error }), infinite], { error })
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` })
}

/** A value with a spelling of its own. `read` returns undefined for a text in another spelling. A bare number is passed to `read`
 * as text, so that a number without its unit is refused with the same words. `pattern`: the spelling for the JSON Schema. */
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

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w)\s*)+$/
const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }

/** Milliseconds: 5,400,000 for "1h30m". Null when the text is no duration. A zero needs no unit. */
export function parseDuration(written: string): number | null {
  if (written === '0') return 0
  if (!DURATION.test(written)) return null
  const parts = [...written.matchAll(/([\d.]+)(ms|[smhdw])/g)]
  return Math.round(parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit as 's'], 0))
}

export function duration(least: string, most: string) {
  const [from, to] = [parseDuration(least) ?? 0, parseDuration(most) ?? 0]
  const read = (written: string) => {
    const value = parseDuration(written)
    return value !== null && value >= from && value <= to ? value : undefined
  }
  return spelt(`a duration such as 90s, 10m or 1h30m, from ${least} to ${most}`, read, DURATION)
}

/** A size in bytes, or null when the text is no size. A KB is 1024 bytes. The package `bytes` alone would read "5 parsecs" as 5. */
export function parseSize(written: string): number | null {
  return /^\d+(?:\.\d+)?\s*[KMGT]B$/i.test(written) ? bytes.parse(written) : null
}

export const bandwidth = spelt(
  'a rate of at least 1KB/s, such as 500KB/s or 2MB/s',
  written => {
    const perSecond = written.endsWith('/s') ? parseSize(written.slice(0, -2)) : null
    return perSecond !== null && perSecond >= 1024 ? perSecond : undefined
  },
  /^\d+(\.\d+)?\s*[KMGTkmgt][Bb]\/s$/,
)

/** A fraction from 0 to 1: "25%" is 0.25. */
export const percentage = spelt(
  'a percentage such as 25%, at most 100%',
  written => {
    const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(written)?.[1]
    return percent !== undefined && Number(percent) <= 100 ? Number(percent) / 100 : undefined
  },
  /^\d+(\.\d+)?\s*%$/,
)

/** A share from above 0 to 1: "1/8" is 0.125, and so is "12.5%". */
export const share = spelt(
  'a share such as 1/8 or 12.5%, above 0 and at most 1',
  written => {
    const [, part, whole] = /^(\d+)\s*\/\s*(\d+)$/.exec(written) ?? []
    const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(written)?.[1]
    const value = percent === undefined ? Number(part) / Number(whole) : Number(percent) / 100
    return value > 0 && value <= 1 ? value : undefined
  },
  /^\d+\s*\/\s*\d+$|^\d+(\.\d+)?\s*%$/,
)

const CRON_LIMITS = 'with minutes up to 59, hours up to 23, and a day that exists'

export const schedule = spelt(`a cron expression such as "0 */6 * * *", ${CRON_LIMITS}`, written =>
  comes(written) ? written : undefined,
)

export const scheduleOrOff = spelt(
  `a cron expression such as "30 3 * * 0", ${CRON_LIMITS}, or "off"`,
  written => (written === 'off' ? null : comes(written) ? written : undefined),
)

/** Whether a cron expression names a day that exists. node-cron accepts the 30th of February, and fails later. */
function comes(written: string): boolean {
  if (!isCron(written)) return false
  // Every month has a day when the day of the month is `*`.
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

/** A time of day in minutes after midnight. */
function timeOfDay(written: string): number | undefined {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(written) ?? []
  return Number(hours) < 24 && Number(minutes) < 60 ? Number(hours) * 60 + Number(minutes) : undefined
}

/** Hours in minutes after midnight of the machine's time zone. `from` is later than `to` when midnight lies between. */
export const hours = spelt(
  'two different times such as 22:00-07:00, each up to 23:59',
  written => {
    const [from, to, ...rest] = written.split('-').map(time => timeOfDay(time.trim()))
    return from === undefined || to === undefined || from === to || rest.length > 0 ? undefined : { from, to }
  },
  /^\d{1,2}:\d{2}\s*-\s*\d{1,2}:\d{2}$/,
)

/** A time of day, in minutes after midnight, in a time zone. */
export const quotaReset = spelt(
  'a time and a time zone such as "00:00 Asia/Shanghai", with a time up to 23:59 and a zone that this system knows',
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

/** An address to listen at, or null for "off". Port 0 takes any free port. */
export const listenAddress = spelt(
  'an address such as 127.0.0.1:8687 or [::1]:8687, an IP address or localhost with a port up to 65535, or "off"',
  written => {
    if (written === 'off') return null
    const [, six, four, port] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(written) ?? []
    const host = six ?? four ?? ''
    const known = six === undefined ? isIPv4(host) || host === 'localhost' : isIPv6(host)
    return known && Number(port) < 65_536 ? { host, port: Number(port) } : undefined
  },
)

export const loopbackAddress = listenAddress.refine(
  address => address === null || isLoopback({ hostname: address.host.replace(/^.*:.*$/, '[$&]') }),
  { error: 'must be within this machine, such as 127.0.0.1:36677, [::1]:36677 or localhost:36677, or "off"' },
)

/** A path as written. `paths.ts` makes it absolute. */
export function path(what: string) {
  return filledText(what).refine(written => !written.includes('\0'), { error: `must be ${what}` })
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
  else if (/\p{Cc}/u.test(written))
    context.addIssue('must hold no control characters, such as a line break or NUL')
})

/** {base_url} (§9.1), without a slash at its end. */
export const baseUrl = address(`an address such as https://images.example.com${VERSION_PATH}`)
  .refine(url => /\/api\/v1\/?$/.test(url.pathname), `must end in ${VERSION_PATH}`)
  .transform(url => url.origin + url.pathname.replace(/\/$/, ''))

/** {site_url}, for the presign form (§4.3): an origin. */
export const siteUrl = address('an address such as https://images.example.com')
  .refine(url => url.pathname === '/', 'must have nothing after its host name and port')
  .transform(url => url.origin)

export const machineName = text('a name such as studio-1').regex(/^[^\s/][^/\t\r\n]{0,62}$/, {
  error: 'must be a name such as studio-1, of at most 63 characters',
})

const STORE_ADDRESS = 'an address such as redis://192.168.1.2:6379 or rediss://store.example.com:6380'

/** An address of another service. albumd requests it as it is written, with its query. */
export const heartbeatUrl = address('an address such as https://hc-ping.com/your-check', true).transform(
  url => url.href,
)

/** The address of a Redis or Valkey. Its path may name the number of a database. */
export const storeUrl = text(STORE_ADDRESS).transform((written, context) => {
  const url = /\s/.test(written) ? null : URL.parse(written)
  if (url?.password) {
    context.addIssue(
      'must not carry a password. Write it to a file, and name the file in shared_password_file',
    )
    return z.NEVER
  }
  const isStore = url && /^rediss?:$/.test(url.protocol) && url.hostname !== ''
  if (isStore && /^(\/\d*)?$/.test(url.pathname) && !/[?#]/.test(url.href)) return url.href
  context.addIssue(`must be ${STORE_ADDRESS}`)
  return z.NEVER
})

/** An address. HTTPS only (§5.4), or plain HTTP within this machine. */
function address(what: string, mayHaveQuery = false) {
  return text(what).transform((written, context) => {
    // The URL parser drops line breaks without an error.
    const url = /\s/.test(written) ? null : URL.parse(written)
    const fault = url ? faultOf(url, mayHaveQuery) : `must be ${what}`
    if (url && fault === null) return url
    context.addIssue(fault ?? '')
    return z.NEVER
  })
}

function faultOf(url: URL, mayHaveQuery: boolean): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.protocol === 'http:' && !isLoopback(url))
    return 'must begin with https://; plain http is for loopback addresses alone'
  if (url.username || url.password) return 'must not carry a user name or password'
  // An empty query (a `?` alone) is not in `url.search`, but it would be in every request.
  if (!mayHaveQuery && /[?#]/.test(url.href)) return 'must not carry a query (?) or a fragment (#)'
  return null
}
