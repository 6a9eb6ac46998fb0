/** §8's "requests per second", read strictly: in no window of a second more than the limit. */
const SECOND_MS = 1002 // Two clocks never tick quite alike.
/**
 * The host counts arrivals, and we see departures and answers: so long, and no longer, a request is given to
 * arrive.
 */
const GUARD_MS = 28
/**
 * On a machine or a line that holds requests up for longer, the host says that it was too much: then the guard
 * doubles, up to this, and halves again after so many requests that were in order.
 */
const GUARD_MOST_MS = 224
const IN_ORDER = 1000
/** After this, a host that counts strictly has forgotten a request. */
export const WINDOW_MS = SECOND_MS + GUARD_MS

/** A place in the window. */
export interface Slot {
  /**
   * The request is being written to its connection. Until then the place counts as taken, however long
   * connecting takes.
   */
  start(now: number): void
  /** So it had arrived. */
  answered(now: number): void
  /** Gives the place back where the request never started. */
  release(): void
}

/** When a request can have arrived. */
interface Arrival {
  earliest: number
  latest: number
}

/** The last requests of one endpoint on a monotonic clock, in milliseconds. */
export class RateWindow {
  readonly #most: number
  #limit: number
  /** Those that started. */
  #arrivals: Arrival[]
  /** Taken and not started. */
  #taken = 0
  #guardMs = GUARD_MS
  #inOrder = 0

  /** `earlier` are starts before this process's. A limit of Infinity counts nothing. */
  constructor(limit: number, earlier: readonly number[] = []) {
    this.#most = limit
    this.#limit = limit
    this.#arrivals = earlier.map(start => ({ earliest: start, latest: start + GUARD_MS }))
  }

  /** Milliseconds after which a place may be free; 0 where one is. What is taken counts as starting now. */
  waitMs(now: number): number {
    this.#arrivals = this.#arrivals.filter(({ latest }) => latest > now - SECOND_MS)
    const over = this.#arrivals.length + this.#taken - this.#limit
    if (over < 0) return 0
    const next = this.#arrivals.sort((a, b) => a.latest - b.latest)[over]
    if (!next) return WINDOW_MS
    // An answer may still come, and shorten the wait.
    return (next.earliest > now - SECOND_MS ? next.earliest : next.latest) + SECOND_MS - now
  }

  /** Only where `waitMs` is 0. */
  take(): Slot {
    const arrival: Arrival = { earliest: Number.POSITIVE_INFINITY, latest: Number.POSITIVE_INFINITY }
    let waiting = true
    const release = () => {
      if (waiting) this.#taken--
      waiting = false
    }
    this.#taken++
    return {
      start: now => {
        release()
        arrival.earliest = now
        arrival.latest = now + this.#guardMs
        if (this.#limit !== Number.POSITIVE_INFINITY) this.#arrivals.push(arrival)
      },
      answered: now => {
        if (++this.#inOrder >= IN_ORDER) this.#setGuard(this.#guardMs / 2)
        arrival.latest = Math.min(arrival.latest, now)
        arrival.earliest = arrival.latest
      },
      release,
    }
  }

  /** The host counted more than its limit: requests arrive closer together than they leave. */
  tooMuch(): void {
    this.#setGuard(this.#guardMs * 2)
  }

  #setGuard(ms: number): void {
    this.#guardMs = Math.min(GUARD_MOST_MS, Math.max(GUARD_MS, ms))
    this.#inOrder = 0
  }

  /** The host's own word on the limit (§7). It may lower ours, never raise it. */
  adopt(limit: number): void {
    this.#limit = Math.min(this.#most, limit)
  }
}
