import { fstatSync } from 'node:fs'
import pino, { type DestinationStream, type Logger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { Config } from '../../config/schema.ts'
import { LOG_EVENTS, type LogEvent } from './log-events.ts'
import {
  plainError,
  type Secrets,
  withoutAddresses,
  withoutAddressesIn,
  withoutSecrets,
} from './log-secrets.ts'

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
