import { fstatSync } from 'node:fs'
import type { DestinationStream, Level, Logger } from 'pino'
import pino from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { Config } from '../../config/schema.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import { printable } from '../../words/text.ts'
import type { DaemonEvent } from '../events.ts'
import { orNull } from '../or-null.ts'

export interface LogOptions {
  /** Where the lines are written. `fd`: the file descriptor. */
  out: { write(text: string): unknown; isTTY?: boolean; fd?: number }
  secrets: Secrets
  env: NodeJS.ProcessEnv
}

/** The daemon's log. The format `auto` is for people on a terminal, has priorities for journald, and else is lines of JSON. */
export function openLog({ level, format }: Config['log'], { out, secrets, env }: LogOptions): Logger {
  const chosen = format === 'auto' ? formatFor(out, env) : format
  // JSON escapes only control characters of ASCII, and the name of a file may hold others.
  const write = (line: string) => void out.write(withoutSecrets(`${printable(line.trimEnd())}\n`, secrets))
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
    })
    return pino(base, {
      write: line =>
        void out.write(withoutSecrets(pretty(forPeople(JSON.parse(line, printableIn))), secrets)),
    })
  }
  return pino(base, chosen === 'journal' ? journal(write) : { write })
}

/** The facts that need no name. */
const PLAIN: ReadonlySet<string> = new Set(['cdn_url', 'message', 'reason'])

/** The same line with its facts as words in its message. An error keeps its lines. */
function forPeople({ level, time, err, msg, event, mirror, path, ...facts }: Record<string, unknown>) {
  const place = [mirror, path].filter(part => typeof part === 'string' && part !== '').join('/')
  const told = Object.entries(facts).flatMap(([name, fact]) => {
    if (fact === null) return []
    const said = typeof fact === 'string' ? fact : JSON.stringify(fact)
    return PLAIN.has(name) ? said : `${name.replaceAll('_', ' ')} ${said}`
  })
  const all = [...(place === '' ? [] : [place]), ...told].join(', ')
  return { level, time, ...(err !== undefined && { err }), msg: all === '' ? msg : `${msg}: ${all}` }
}

/** A reviver for JSON.parse. It escapes the control characters that JSON.parse unescapes. A stack keeps its line breaks. */
function printableIn(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return key === 'stack' ? value.split('\n').map(printable).join('\n') : printable(value)
}

function formatFor(out: LogOptions['out'], env: NodeJS.ProcessEnv): 'pretty' | 'json' | 'journal' {
  if (out.isTTY) return 'pretty'
  return isJournal(out.fd, env) ? 'journal' : 'json'
}

/** Whether `fd` is the journal that JOURNAL_STREAM names. A child inherits this variable and may write elsewhere. */
export function isJournal(fd: number | undefined, { JOURNAL_STREAM: stream }: NodeJS.ProcessEnv): boolean {
  if (fd === undefined || stream === undefined) return false
  const stats = orNull(() => fstatSync(fd, { bigint: true }))
  return stats !== null && stream === `${stats.dev}:${stats.ino}`
}

export function logEvent(
  log: Logger,
  emitted: LogEvent,
  says: string = emitted.event.replaceAll('_', ' '),
): void {
  const [level] = LOG_EVENTS[emitted.event]
  log[level](emitted, says)
}

const PRIORITY_OF: Record<number, number> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 }

/** A stream that writes each line with its priority as journald reads it: a prefix such as <6>. */
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

export type ProcessEvent =
  /** `config`: the config's file. `page`: where the status page is to listen, or "off". */
  | { event: 'started'; version: string; pid: number; config: string; page: string; picgo_server: string }
  | { event: 'warning' | 'stopping' | 'stopped' }
  | { event: 'failed'; code: string; message: string }

export type LogEvent = SpokenEvent | DaemonEvent | ProcessEvent

/** Every event of the log by its stable name, with its level and a description. */
export const LOG_EVENTS: Readonly<Record<LogEvent['event'], readonly [Level, string]>> = {
  started: ['info', 'the daemon has locked its state and its folders, and begins'],
  failed: ['error', 'the daemon could not start, or has to end; the last line, but not at a terminal'],
  warning: ['warn', 'a warning for a person, in `msg`'],
  stopping: ['info', 'a signal came; uploads under way are finished or recorded in the journal'],
  stopped: ['info', 'the daemon has ended, and everything is recorded'],
  scan_started: ['debug', 'the scan of a mirror began'],
  scan_finished: ['info', 'the scan of a mirror ended'],
  change_found: ['debug', 'a file must be uploaded, or its image deleted'],
  picture_gone: [
    'info',
    'a picture is gone from the disk; its image, if there is one, goes when the grace is over',
  ],
  mirror_guarded: ['warn', 'a folder may not be what it was, so nothing of its mirror is deleted'],
  uploads_started: ['debug', 'pictures are to be uploaded, or to be compared first'],
  picture_uploaded: ['info', 'a picture was uploaded'],
  picture_unchanged: ['debug', 'the host has the same bytes already, so nothing was uploaded'],
  picture_linked: ['info', 'the host has an image that may be this picture; the bytes are not compared yet'],
  picture_failed: ['warn', 'a picture could not be uploaded'],
  picture_uncertain: ['warn', 'it is not known whether an upload arrived'],
  picture_waits: ['debug', 'a picture is not uploaded yet'],
  upload_found_out: ['info', 'it is known now whether an upload in doubt arrived'],
  format_refused: ['warn', 'the host refuses all pictures of a format, which wait'],
  uploads_stopped: ['warn', 'nothing more can be uploaded now'],
  album_created: ['info', 'an album was made'],
  album_deleted: ['info', 'an album that nothing needs was deleted'],
  new_state: ['warn', 'an album holds images, and the state has never recorded one'],
  default_album_found: [
    'info',
    "the host puts uploads without an album into the account's default album, which was found",
  ],
  image_deleted: ['info', 'an image was deleted'],
  image_kept: ['debug', 'an image that was to be deleted is not deleted now'],
  deletions_held: [
    'warn',
    'too many images were to be deleted at once, so these `images` wait for a person; `pictures` are those that keep theirs',
  ],
  deletions_many: [
    'warn',
    'many images are to be deleted together, so these `images` wait longer; `pictures` are those that keep theirs',
  ],
  audit_found: ['warn', 'an audit found a difference between the host and the records'],
  audit_finished: ['info', 'every album was compared with the records'],
  audit_waits: ['warn', 'the host refused a request, so the audit waits'],
  asked_for: ['info', 'a person gave a command'],
  config_taken: ['info', 'the daemon works with the config that was read again'],
  config_refused: ['error', 'the new config is wrong; the old one stays'],
  key_taken: ['info', 'the daemon works with the API key, certificates and password that were read again'],
  key_refused: ['error', 'the new key, certificate or password can not be used; the old one stays'],
  heartbeat_failed: ['warn', 'a heartbeat did not arrive; logged once'],
  heartbeat_works: ['info', 'heartbeats arrive again'],
  store_away: ['warn', 'the store that the machines share cannot be used for five seconds; logged once'],
  store_answers: ['info', 'the store that the machines share answers again'],
  albumd_works_again: ['info', 'the state, or the store that the machines share, works again'],
  trouble: ['warn', 'something needs a person; notify.on_trouble is run'],
  trouble_resolved: ['info', 'nothing needs a person any more'],
  trouble_command_failed: ['warn', 'the command notify.on_trouble failed'],
  upload_command_failed: ['warn', 'the command notify.on_upload failed'],
}

/** The keys and credentials that no line of the log may hold. When albumd reads another API key, it adds that key. */
export type Secrets = ReadonlySet<string>

/** A shorter secret stays in the log, because it may be part of ordinary words. No real key is so short. */
const SHORTEST = 6

/** The line without the secrets, whether they stand there as plain text, in JSON, in a URL or in base64. */
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

/** Delivery addresses are public, so they stay in the log. */
const PUBLIC = new Set(['cdn_url'])

/** The fields of an event for the log. `withoutAddresses` shortens the addresses in every field that is not in PUBLIC. */
export function withoutAddressesIn(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' && !PUBLIC.has(name) ? withoutAddresses(value) : value,
    ]),
  )
}

/** Shortens addresses to their host: the address of an upload holds its credential (§4.2), that of a heartbeat its id. */
export function withoutAddresses(text: string): string {
  return text.replace(
    /\b(https?:\/\/)(?:[^\s/@"']*@)?([^\s/?#"']+)[/?#][^\s"']*?(?=[.,;:)]*(?:[\s"']|$))/gi,
    '$1$2/…',
  )
}

/** The fields of an error that are logged. The others may hold a request with its headers. */
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
