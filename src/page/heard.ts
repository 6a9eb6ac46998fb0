import pino from 'pino'
import type { Sending } from '../daemon/events.ts'
import { orNull } from '../daemon/or-null.ts'

/** The part of a log line that the page shows. */
export interface LogLine {
  /** ISO 8601. */
  time: string
  level: string
  text: string
}

const LINES = 40

/** Fields that the page does not show, because every line has the field or the message says the same. */
const SAID: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'event', 'cdn_url'])

/** The last lines of the log. The lines hold no secrets. */
export class LogTail {
  readonly #lines: LogLine[] = []

  /** `json`: a line of the log. */
  hear(json: string): void {
    const line = orNull(() => read(json))
    if (line) this.#lines.push(line)
    if (this.#lines.length > LINES) this.#lines.shift()
  }

  /** The lines of the log, the latest one first. */
  lines(): LogLine[] {
    return this.#lines.toReversed()
  }
}

function read(json: string): LogLine {
  const { level, time, msg, ...rest } = JSON.parse(json) as Record<string, unknown>
  const fields = Object.entries(rest)
    .filter(([name, value]) => !SAID.has(name) && (typeof value === 'string' || typeof value === 'number'))
    .map(([name, value]) => (name === 'path' || name === 'message' ? value : `${name} ${value}`))
  const named = pino.levels.labels[Number(level)] ?? 'info'
  return { time: String(time), level: named, text: [msg, ...fields].join(' · ') }
}

/** A picture that is being uploaded. No two uploads under way have the same `id`. */
export interface UnderWay {
  id: number
  mirror: string
  path: string
  /** Bytes. */
  size: number
  sent: number
}

/**
 * The upload rate is the mean over the last WINDOW_MS. Parts that are sent within MOMENT_MS of each other are counted as
 * one, so that the list stays short.
 */
const WINDOW_MS = 10_000
const MOMENT_MS = 100

/** The pictures under way, and the upload rate. `now`: milliseconds on a clock that only goes forward. */
export class UnderWayPictures {
  readonly #now: () => number
  readonly #pictures = new Map<string, UnderWay>()
  #steps: { at: number; bytes: number }[] = []
  /** When uploads ended. */
  #ends: number[] = []
  #nextId = 1

  constructor(now: () => number) {
    this.#now = now
  }

  hear({ mirror, path, size, sent }: Sending): void {
    const key = `${mirror}\0${path}`
    const known = this.#pictures.get(key)
    if (sent === null) {
      this.#pictures.delete(key)
      this.#ends.push(this.#now())
      this.#forget()
      return
    }
    const before = known === undefined || sent < known.sent ? 0 : known.sent
    this.#step(sent - before)
    this.#pictures.set(key, { id: known?.id ?? this.#nextId++, mirror, path, size, sent })
  }

  /** The pictures that are being uploaded, in the order in which their uploads began. */
  pictures(): UnderWay[] {
    return [...this.#pictures.values()]
  }

  byId(id: number): UnderWay | undefined {
    return this.pictures().find(picture => picture.id === id)
  }

  /** The upload rate in bytes per second. */
  rate(): number {
    this.#forget()
    const [first] = this.#steps
    if (!first) return 0
    const bytes = this.#steps.reduce((sum, step) => sum + step.bytes, 0)
    return (bytes * 1000) / Math.max(1000, this.#now() - first.at)
  }

  /** How many uploads end in a second. */
  pace(): number {
    this.#forget()
    return (this.#ends.length * 1000) / WINDOW_MS
  }

  #step(bytes: number): void {
    const at = this.#now()
    const last = this.#steps.at(-1)
    if (last && at - last.at < MOMENT_MS) last.bytes += bytes
    else this.#steps.push({ at, bytes })
    this.#forget()
  }

  #forget(): void {
    const since = this.#now() - WINDOW_MS
    const keep = this.#steps.findIndex(({ at }) => at >= since)
    if (keep !== 0) this.#steps = keep === -1 ? [] : this.#steps.slice(keep)
    this.#ends = this.#ends.filter(at => at >= since)
  }
}
