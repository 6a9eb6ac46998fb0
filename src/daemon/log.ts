import pino, { type DestinationStream, type Level, type Logger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { Config } from '../config/schema.ts'
import type { PassEvent } from '../sync/pass-events.ts'

const LEVEL_OF: Record<PassEvent['event'], Level> = {
  scan_started: 'debug',
  scan_finished: 'info',
  change_found: 'debug',
  mirror_guarded: 'warn',
  uploads_started: 'info',
  picture_uploaded: 'info',
  picture_unchanged: 'debug',
  picture_linked: 'info',
  upload_found_out: 'info',
  picture_failed: 'warn',
  picture_uncertain: 'warn',
  picture_waits: 'debug',
  album_created: 'info',
  album_deleted: 'info',
  default_album_found: 'info',
  uploads_stopped: 'warn',
  image_deleted: 'info',
  image_kept: 'debug',
  deletions_held: 'warn',
}

/** The daemon's log on `out`: for people on a terminal, JSON lines elsewhere, with journald's priorities on request. */
export function openLog({ level, format }: Config['log'], out: NodeJS.WriteStream): Logger {
  const chosen = format === 'auto' ? (out.isTTY ? 'pretty' : 'json') : format
  const write = (line: string) => void out.write(harmless(line))
  const base = { level, timestamp: pino.stdTimeFunctions.isoTime, base: null }
  if (chosen === 'pretty') {
    const pretty = prettyFactory({
      colorize: out.isTTY && !process.env.NO_COLOR,
      ignore: 'event',
      singleLine: true,
    })
    return pino(base, { write: line => void out.write(pretty(harmless(line))) })
  }
  return pino(base, chosen === 'journal' ? journal(write) : { write })
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

/** One event under its stable name. */
export function logEvent(log: Logger, told: PassEvent): void {
  log[LEVEL_OF[told.event]](told, told.event.replaceAll('_', ' '))
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
