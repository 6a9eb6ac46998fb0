/** The part of a log line that the page shows. */
export interface LogLine {
  /** ISO 8601. */
  time: string
  level: 'debug' | 'info' | 'warn' | 'error'
  text: string
}

const LINES = 40
const LEVELS: Readonly<Record<number, LogLine['level']>> = {
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
}

/** Fields that every line has, or that repeat its message. */
const SAID: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'event', 'cdn_url'])

/** The last lines of the log. The lines hold no secrets. */
export class LogTail {
  readonly #lines: LogLine[] = []

  /** `json`: a line of the log. */
  hear(json: string): void {
    const line = read(json)
    if (line === null) return
    this.#lines.push(line)
    if (this.#lines.length > LINES) this.#lines.shift()
  }

  /** The latest first. */
  lines(): LogLine[] {
    return this.#lines.toReversed()
  }
}

function read(json: string): LogLine | null {
  try {
    const { level, time, msg, ...rest } = JSON.parse(json) as Record<string, unknown>
    const fields = Object.entries(rest)
      .filter(([name, value]) => !SAID.has(name) && (typeof value === 'string' || typeof value === 'number'))
      .map(([name, value]) => (name === 'path' || name === 'message' ? value : `${name} ${value}`))
    return {
      time: String(time),
      level: LEVELS[Number(level)] ?? 'info',
      text: [msg, ...fields].join(' · '),
    }
  } catch {
    return null
  }
}
