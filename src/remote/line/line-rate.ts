/**
 * A connection that keeps a piece waiting for so long has its buffers full: from then on it takes bytes as fast as
 * they leave. Before that the system takes some megabytes at once, whatever the line.
 */
const FULL_MS = 20

export interface LineRateOptions {
  /** Over how long bytes count, in milliseconds. */
  windowMs: number
  /** How long a measure is believed. */
  freshMs: number
}

/** One body on its way. Times are monotonic milliseconds. */
export interface Flow {
  /**
   * The connection has taken so many bytes. `from`: since when it could. Answers how many have left by that: as many as
   * there was no room for before.
   */
  taken(bytes: number, from: number, now: number): number
  /** All of it has arrived. */
  arrived(bytes: number, now: number): void
}

/** Bytes a second, and over how many milliseconds of sending they were seen. */
export interface Measured {
  rate: number
  seenMs: number
}

/** What a connection took between two long waits, from the end of the first or its beginning to that of the second. */
interface Lump {
  bytes: number
  from: number
  until: number
}

/** How much the line takes, by what it took of the last uploads together. */
export class LineRate {
  readonly #options: LineRateOptions
  #bytes = 0
  #ms = 0
  #until = Number.NEGATIVE_INFINITY
  /** What one upload alone has proved to be possible. */
  #proved = { rate: 0, at: Number.NEGATIVE_INFINITY }

  constructor(options: LineRateOptions) {
    this.#options = options
  }

  open(): Flow {
    let since: number | null = null
    // The system makes room in lumps: a long wait, and then much is taken at once. Only whole lumps tell of the rate.
    let lump: Lump | null = null
    return {
      taken: (bytes, from, now) => {
        since ??= from
        if (now - from >= FULL_MS) {
          if (lump) this.#add(lump, now)
          // In the first wait what others have in their buffers may leave.
          lump = { bytes: 0, from: lump?.until ?? now, until: now }
        }
        if (!lump) return 0
        lump.bytes += bytes
        lump.until = now
        return bytes
      },
      arrived: (bytes, now) => {
        if (since !== null && now > since) this.#prove((bytes * 1000) / (now - since), now)
      },
    }
  }

  /** Null: no connection has been full for long. */
  measured(now: number): Measured | null {
    if (this.#ms === 0 || now - this.#until > this.#options.freshMs) return null
    const rate = (this.#bytes * 1000) / this.#ms
    const isNewer = this.#proved.at > this.#until
    return { rate: isNewer ? Math.max(rate, this.#proved.rate) : rate, seenMs: this.#ms }
  }

  /** Bytes a second that it takes at least; 0 where nothing is known. */
  atLeast(now: number): number {
    return now - this.#proved.at > this.#options.freshMs ? 0 : this.#proved.rate
  }

  #add({ bytes, from, until }: Lump, now: number): void {
    if (now - this.#until > this.#options.freshMs) this.#bytes = this.#ms = 0
    // Time in which several uploads waited is one time.
    const ms = Math.max(0, until - Math.max(from, this.#until))
    const rest = Math.exp(-ms / this.#options.windowMs)
    this.#bytes = this.#bytes * rest + bytes
    this.#ms = this.#ms * rest + ms
    this.#until = Math.max(this.#until, until)
  }

  #prove(rate: number, now: number): void {
    if (rate >= this.atLeast(now)) this.#proved = { rate, at: now }
  }
}
