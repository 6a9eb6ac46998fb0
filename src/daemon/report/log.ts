import { fstatSync } from 'node:fs'
import type { DestinationStream, Level, Logger } from 'pino'
import pino from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { Config } from '../../config/schema.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { DaemonEvent } from '../events.ts'

export interface LogOptions {
  /** Where it goes; `fd` is what the system knows it by. */
  out: { write(text: string): unknown; isTTY?: boolean; fd?: number }
  secrets: Secrets
  env: NodeJS.ProcessEnv
  /** Called with each line as JSON, without secrets. */
  hear?: (line: string) => void
}

/** The daemon's log: for people on a terminal, JSON lines elsewhere, with priorities where journald reads along. */
export function openLog({ level, format }: Config['log'], { out, secrets, env, hear }: LogOptions): Logger {
  const chosen = format === 'auto' ? formatFor(out, env) : format
  const clean = (line: string) => {
    const cleaned = withoutSecrets(harmless(line), secrets)
    // Without journald's prefix.
    hear?.(cleaned.replace(/^<\d>/, ''))
    return cleaned
  }
  const write = (line: string) => void out.write(clean(line))
  const base: pino.LoggerOptions = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    base: null,
    formatters: { log: withoutAddressesIn },
    serializers: { err: plainError },
    hooks: {
      logMethod(args, method) {
        const [first] = args as unknown[]
        const told = first instanceof Error ? [{ err: first }, first.message] : args
        method.apply(
          this,
          told.map(arg => (typeof arg === 'string' ? withoutAddresses(arg) : arg)) as typeof args,
        )
      },
    },
  }
  if (chosen === 'pretty') {
    const pretty = prettyFactory({
      colorize: out.isTTY === true && !env.NO_COLOR,
      ignore: 'event',
      singleLine: true,
    })
    return pino(base, { write: line => void out.write(pretty(clean(line))) })
  }
  return pino(base, chosen === 'journal' ? journal(write) : { write })
}

function formatFor(out: LogOptions['out'], env: NodeJS.ProcessEnv): 'pretty' | 'json' | 'journal' {
  if (out.isTTY) return 'pretty'
  return isJournal(out.fd, env.JOURNAL_STREAM) ? 'journal' : 'json'
}

/** systemd tells the device and inode of the journal's stream. A child may have the variable and another output. */
function isJournal(fd: number | undefined, stream: string | undefined): boolean {
  if (fd === undefined || stream === undefined) return false
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true })
    return stream === `${dev}:${ino}`
  } catch {
    return false
  }
}

/**
 * JSON escapes what is below the space. The control characters beyond ASCII and those that turn the direction of
 * writing would still reach a terminal, in the name of a file.
 */
function harmless(line: string): string {
  return line.replace(
    /[\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** One event under its stable name; `says`: a line for people in the place of the name. */
export function logEvent(log: Logger, told: LogEvent, says: string = told.event.replaceAll('_', ' ')): void {
  const [level] = LOG_EVENTS[told.event]
  log[level](told, says)
}

const PRIORITY_OF: Record<number, number> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 }

/** journald reads a line's priority from a prefix such as <6>. */
function journal(write: (line: string) => void): DestinationStream {
  const stream = {
    // pino tells a stream that has this symbol the level of each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 30,
    write(line: string) {
      write(`<${PRIORITY_OF[stream.lastLevel] ?? 6}>${line}`)
    },
  }
  return stream
}

/** What the process itself tells. */
export type ProcessEvent = { event: 'warning' | 'stopping' | 'stopped' }

export type LogEvent = SpokenEvent | DaemonEvent | ProcessEvent

/** Every event of the log under its stable name: how grave it is, and what has happened. */
export const LOG_EVENTS: Readonly<Record<LogEvent['event'], readonly [Level, string]>> = {
  warning: ['warn', 'something that a person should know, in `msg`'],
  stopping: ['info', 'a signal came; what is under way is finished or journaled'],
  stopped: ['info', 'all is recorded'],
  scan_started: ['debug', 'a mirror is looked at'],
  scan_finished: ['info', 'a mirror was looked at'],
  change_found: ['debug', 'something must be done about a file'],
  mirror_guarded: ['warn', 'the local truth is in doubt, and nothing is deleted meanwhile'],
  uploads_started: ['info', 'so many pictures are to be compared or sent'],
  picture_uploaded: ['info', 'the host has taken a picture'],
  picture_unchanged: ['debug', 'the bytes of a picture are on the host already'],
  picture_linked: ['info', 'an image that is there can be this picture; its bytes are yet to be compared'],
  picture_failed: ['warn', 'a picture can not be uploaded as it is'],
  picture_uncertain: ['warn', 'whether an upload arrived is not known'],
  picture_waits: ['debug', 'a picture is not sent now'],
  upload_found_out: ['info', 'whether an upload in doubt arrived'],
  uploads_stopped: ['warn', 'no more can be uploaded now'],
  album_created: ['info', 'an album was made'],
  album_deleted: ['info', 'an album that nothing needs was deleted'],
  default_album_found: ['info', "where the host puts what is for its root: the account's default album"],
  image_deleted: ['info', 'an image was deleted'],
  image_kept: ['debug', 'an image that was to go stays for now'],
  deletions_held: ['warn', 'too many images were to be deleted: they wait for a person'],
  audit_found: ['warn', 'the host shows something else than what is recorded'],
  audit_finished: ['info', 'every album was compared with the records'],
  audit_waits: ['warn', 'the host did not let an audit go on'],
  asked_for: ['info', 'a command has the daemon do something'],
  config_taken: ['info', 'the config was read again'],
  config_refused: ['error', 'the config is wrong; the one before stays'],
  key_taken: ['info', 'the API key was read again'],
  key_refused: ['error', 'the API key can not be read; the one before stays'],
  heartbeat_failed: ['warn', 'no heartbeat arrives; said once'],
  heartbeat_works: ['info', 'heartbeats arrive again'],
  trouble: ['warn', 'something needs a person; notify.on_trouble is run'],
  trouble_resolved: ['info', 'it is as it should be again'],
  trouble_command_failed: ['warn', 'notify.on_trouble did not do what it should'],
  upload_command_failed: ['warn', 'notify.on_upload did not do what it should'],
}

/** Keys and credentials, which no line of the log may hold. A key that is read again is added to it. */
export type Secrets = ReadonlySet<string>

/** Shorter ones would take ordinary words with them. No real key is as short. */
const SHORTEST = 6

/** A finished line without the secrets, in whatever way they are written. */
export function withoutSecrets(line: string, secrets: Secrets): string {
  let clean = line
  for (const secret of secrets) {
    if (secret.length < SHORTEST) continue
    const asJson = JSON.stringify(secret).slice(1, -1)
    for (const written of new Set([secret, asJson, encodeURIComponent(secret), base64(secret)]))
      clean = clean.replaceAll(written, '***')
  }
  return clean
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '')
}

/** Public by its nature: what people open to see a picture. */
const PUBLIC = new Set(['cdn_url'])

/** The fields of an event, their words without addresses. */
export function withoutAddressesIn(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' && !PUBLIC.has(name) ? withoutAddresses(value) : value,
    ]),
  )
}

/** An upload address holds its credential (§4.2), and a heartbeat's its id: of each only the host is shown. */
export function withoutAddresses(text: string): string {
  return text.replace(/\b(https?:\/\/)(?:[^\s/@"']*@)?([^\s/?#"']+)[/?#][^\s"']*/gi, '$1$2/…')
}

/** What is told of an error: no fields of others, which may hold requests with all their headers. */
export function plainError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: withoutAddresses(String(error)) }
  const { name, message, stack = '' } = error
  const { code } = error as NodeJS.ErrnoException
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) }
  return {
    type: name,
    ...(typeof code === 'string' && { code }),
    message: withoutAddresses(message),
    stack: withoutAddresses(stack),
    ...cause,
  }
}
