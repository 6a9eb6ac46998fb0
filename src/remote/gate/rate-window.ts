import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '../../protocol/endpoints.ts'

/**
 * §8's "requests per second" in the strictest reading: no window of one second, wherever it begins, holds more requests
 * than the limit. Two milliseconds more, because the host's clock and ours do not run at exactly the same speed.
 */
const SECOND_MS = 1002
/**
 * The host counts arrivals, but we know only when a request left and when its answer came. A request counts as arriving
 * at some time between its departure and this many milliseconds later, or the arrival of its answer if the answer comes
 * sooner.
 */
const GUARD_MS = 28
/**
 * When the machine or the network delays requests for longer, the host answers RATE_LIMITED. The guard then doubles, up
 * to this, and halves again after `IN_ORDER` answered requests.
 */
const GUARD_MOST_MS = 224
const IN_ORDER = 1000
/**
 * After this long a request counts in no second any more, whenever the request arrived and whenever the host's seconds
 * begin.
 */
export const WINDOW_MS = SECOND_MS + GUARD_MS

/** A place in the window. */
export type Slot = ReturnType<RateWindow['take']>

/** What the gate asks of the rate window of an endpoint: this machine's own, or one that several machines share. */
export interface RequestWindow extends Pick<RateWindow, 'recent' | 'waitMs' | 'adopt' | 'tooMuch'> {
  take(): Slot
  /** A request waits for a place from now on. Answers the function that ends this. */
  enter?(): () => void
}

/**
 * The requests of the process before this one, by the clock that all processes share: when each request that may still
 * count had arrived at the latest. A number: when its last requests may have been sent, because it is not known how many
 * they were. Null: so long ago that they count no more.
 */
export type EarlierRequests = Partial<Record<Endpoint, number[]>> | number | null

/** The time span in which a request can have arrived at the host. */
interface Arrival {
  earliest: number
  latest: number
}

/**
 * The recent requests of one endpoint. All times are milliseconds of a monotonic clock.
 *
 * Example, with a limit of 2 a second: request A leaves at 0 and its answer comes at 10; request B leaves at 5 and its
 * answer is still out. A arrived between 0 and 10, B between 5 and 33 (the guard). A third request may leave at 1012,
 * because A is then more than a second old wherever in its span it arrived. Had both answers been out, it would have to
 * wait until 1030.
 */
export class RateWindow {
  readonly #most: number
  #limit: number
  #arrivals: Arrival[]
  /** Taken places whose request has not started yet. */
  #taken = 0
  #guardMs = GUARD_MS
  #inOrder = 0

  /** `before`: when requests of the process before this one had arrived at the latest. A limit of Infinity counts nothing. */
  constructor(limit: number, before: readonly number[] = []) {
    this.#most = limit
    this.#limit = limit
    this.#arrivals = before.map(latest => ({ earliest: latest, latest }))
  }

  /** When the requests that still count at `now` had arrived at the latest. */
  recent(now: number): number[] {
    return this.#arrivals.map(({ latest }) => latest).filter(latest => latest > now - SECOND_MS)
  }

  /** Milliseconds after which a place may be free; 0 when one is free. Taken places count as if they started now. */
  waitMs(now: number): number {
    this.#arrivals = this.#arrivals.filter(({ latest }) => latest > now - SECOND_MS)
    const over = this.#arrivals.length + this.#taken - this.#limit
    if (over < 0) return 0
    const next = this.#arrivals.sort((a, b) => a.latest - b.latest)[over]
    if (!next) return WINDOW_MS
    // The wait is computed for the earliest possible arrival first: until then the answer may come and shorten the span.
    return (next.earliest > now - SECOND_MS ? next.earliest : next.latest) + SECOND_MS - now
  }

  /** Takes a place. Call it only when `waitMs` is 0. */
  take() {
    const arrival: Arrival = { earliest: Number.POSITIVE_INFINITY, latest: Number.POSITIVE_INFINITY }
    let waiting = true
    const release = () => {
      if (waiting) this.#taken--
      waiting = false
    }
    this.#taken++
    return {
      /**
       * The request is being written to its connection at `now`. Until then the place counts as taken, because connecting
       * can take any time.
       */
      start: (now: number): void => {
        release()
        arrival.earliest = now
        arrival.latest = now + this.#guardMs
        if (this.#limit !== Number.POSITIVE_INFINITY) this.#arrivals.push(arrival)
      },
      /** Its answer has come, so the request had arrived by `now`. */
      answered: (now: number): void => {
        if (++this.#inOrder >= IN_ORDER) this.#setGuard(this.#guardMs / 2)
        arrival.latest = Math.min(arrival.latest, now)
        arrival.earliest = arrival.latest
      },
      /** Gives the place back if the request never started. */
      release,
    }
  }

  /**
   * The host answered RATE_LIMITED although the window was kept: requests arrive closer together than they leave. `_waitMs`:
   * how long the host needs now. The outage of the endpoint waits for so long.
   */
  tooMuch(_waitMs: number | null = null): void {
    this.#setGuard(this.#guardMs * 2)
  }

  #setGuard(ms: number): void {
    this.#guardMs = Math.min(GUARD_MOST_MS, Math.max(GUARD_MS, ms))
    this.#inOrder = 0
  }

  /** The limit that the host names in an answer (§7). It can lower the configured limit, but never raise it. */
  adopt(limit: number): void {
    this.#limit = Math.min(this.#most, limit)
  }
}

/** When the earlier requests to an endpoint had arrived. When their number is not known, the window is full of them. */
export function arrivedBefore(earlier: EarlierRequests, endpoint: Endpoint, limit: number): number[] {
  if (earlier === null || limit === Number.POSITIVE_INFINITY) return []
  return typeof earlier === 'number' ? Array(limit).fill(earlier + GUARD_MS) : (earlier[endpoint] ?? [])
}

/** What the headers of an answer say about the rate (§7, "Rate-limit responses"). Null: no header, or not understood. */
export interface Pace {
  retryAfterMs: number | null
  /** Requests a second. */
  limit: number | null
}

export const NO_PACE: Pace = { retryAfterMs: null, limit: null }

export function paceOf(headers: IncomingHttpHeaders): Pace {
  return {
    retryAfterMs: retryAfter(text(headers['retry-after']), text(headers.date)),
    limit: positive(text(headers['x-ratelimit-limit'])),
  }
}

/** undici gives a header that came twice as an array, although the type does not say so. */
function text(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? ''
}

/** A week. A host that asks to wait for longer is mistaken. */
const RETRY_AFTER_MAX_MS = 7 * 86_400_000

/** Seconds or a date (RFC 9110, 10.2.3). A date is compared with the host's own `Date` header, because clocks differ. */
function retryAfter(value: string, hostDate: string): number | null {
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1000, RETRY_AFTER_MAX_MS)
  if (!value.endsWith('GMT')) return null
  const wait = Date.parse(value) - Date.parse(hostDate)
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), RETRY_AFTER_MAX_MS)
}

function positive(value: string): number | null {
  return /^[1-9]\d*$/.test(value) ? Number(value) : null
}
