import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '../../protocol/endpoints.ts'

/**
 * A "second" of §8 in the strictest reading: no window of one second, wherever it begins, holds more requests than the
 * limit. It has two milliseconds more, because the host's clock and ours do not run at exactly the same speed.
 */
const SECOND_MS = 1002
/**
 * The host counts when requests arrive, but albumd knows only when a request left and when its answer came. A request is
 * taken to arrive between its departure and so many milliseconds later, or before its answer if the answer comes sooner.
 */
const GUARD_MS = 28
/**
 * When the machine or the network delays requests for longer than the guard, the host answers RATE_LIMITED. Then the guard
 * doubles, up to this many milliseconds. After `IN_ORDER` answered requests it halves again.
 */
const GUARD_MOST_MS = 224
const IN_ORDER = 1000
/** After so many milliseconds a request counts no more, whenever it arrived and whenever the host's seconds begin. */
export const WINDOW_MS = SECOND_MS + GUARD_MS

/** A place in the window, for one request. */
export type Slot = ReturnType<RateWindow['take']>

/** What the gate asks of the rate window of an endpoint: this machine's own, or one that several machines share. */
export interface RequestWindow extends Pick<RateWindow, 'recent' | 'waitMs' | 'adopt' | 'tooMuch'> {
  take(): Slot
  /** Call this when a request begins to wait for a place. Answers the function to call when it waits no longer. */
  enter?(): () => void
}

/**
 * The requests of the process before this one, by a clock that all processes share. An object: the latest time at which
 * each request that may still count can have arrived. A number: nobody knows how many requests there were, and the last may
 * have been sent at this time. Null: they were sent so long ago that none counts.
 */
export type EarlierRequests = Partial<Record<Endpoint, number[]>> | number | null

/** The time span within which a request has arrived at the host. */
interface Arrival {
  earliest: number
  latest: number
}

/**
 * The recent requests of one endpoint. All times are milliseconds of a monotonic clock.
 *
 * Example, with a limit of 2 a second: request A leaves at 0 and its answer comes at 10; request B leaves at 5 and its
 * answer has not come yet. A arrived between 0 and 10, B between 5 and 33 (with the guard of 28). A third request may leave
 * at 1012, because A then arrived more than a second ago, wherever in its span. If A's answer had not come either, the
 * third request would have to wait until 1030.
 */
export class RateWindow {
  readonly #most: number
  #limit: number
  #arrivals: Arrival[]
  /** Places that were taken, and whose request has not started yet. */
  #taken = 0
  #guardMs = GUARD_MS
  #inOrder = 0

  /**
   * `before`: the latest times at which requests of the process before this one can have arrived. With a limit of Infinity
   * no request is counted.
   */
  constructor(limit: number, before: readonly number[] = []) {
    this.#most = limit
    this.#limit = limit
    this.#arrivals = before.map(latest => ({ earliest: latest, latest }))
  }

  /** The requests that still count at `now`: for each, the latest time at which it can have arrived. */
  recent(now: number): number[] {
    return this.#arrivals.map(({ latest }) => latest).filter(latest => latest > now - SECOND_MS)
  }

  /**
   * Milliseconds after which a place may be free; 0 when a place is free. A taken place counts as if its request started
   * now.
   */
  waitMs(now: number): number {
    this.#arrivals = this.#arrivals.filter(({ latest }) => latest > now - SECOND_MS)
    const over = this.#arrivals.length + this.#taken - this.#limit
    if (over < 0) return 0
    const next = this.#arrivals.sort((a, b) => a.latest - b.latest)[over]
    if (!next) return WINDOW_MS
    // The caller first waits only until a second after the earliest possible arrival. Until then the answer may have come,
    // and have shown when the request arrived at the latest.
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
       * Call this when the request is being written to its connection, at `now`. Before, the place only counts as taken,
       * because connecting can take any time.
       */
      start: (now: number): void => {
        release()
        arrival.earliest = now
        arrival.latest = now + this.#guardMs
        if (this.#limit !== Number.POSITIVE_INFINITY) this.#arrivals.push(arrival)
      },
      /** Call this when the answer has come. The request had then arrived before `now`. */
      answered: (now: number): void => {
        if (++this.#inOrder >= IN_ORDER) this.#setGuard(this.#guardMs / 2)
        arrival.latest = Math.min(arrival.latest, now)
        arrival.earliest = arrival.latest
      },
      /** Gives the place back when the request never started. */
      release,
    }
  }

  /**
   * The host answered RATE_LIMITED although albumd kept to the window. So requests arrive closer together than they leave.
   * `_waitMs`: how long the host needs now. This window does not use it, because the endpoint's outage waits for so long.
   */
  tooMuch(_waitMs: number | null = null): void {
    this.#setGuard(this.#guardMs * 2)
  }

  #setGuard(ms: number): void {
    this.#guardMs = Math.min(GUARD_MOST_MS, Math.max(GUARD_MS, ms))
    this.#inOrder = 0
  }

  /** Takes over the limit that the host names in an answer (§7), unless it is above the configured limit. */
  adopt(limit: number): void {
    this.#limit = Math.min(this.#most, limit)
  }
}

/**
 * When the requests of the process before this one arrived at an endpoint. When their number is not known, as many are
 * assumed as the limit allows.
 */
export function arrivedBefore(earlier: EarlierRequests, endpoint: Endpoint, limit: number): number[] {
  if (earlier === null || limit === Number.POSITIVE_INFINITY) return []
  return typeof earlier === 'number' ? Array(limit).fill(earlier + GUARD_MS) : (earlier[endpoint] ?? [])
}

/**
 * What the headers of an answer say about the rate (§7, "Rate-limit responses"). Null: the header is missing, or not
 * understood.
 */
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

/** The first value of a header. When a header came twice, undici gives an array, although its type does not say so. */
function text(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? ''
}

/** A week. When a host asks to wait for longer, this is a mistake, and albumd waits for a week at most. */
const RETRY_AFTER_MAX_MS = 7 * 86_400_000

/**
 * How long `Retry-After` asks to wait. It holds seconds or a date (RFC 9110, 10.2.3). A date is compared with the host's
 * own `Date` header, because the clocks of host and client may differ.
 */
function retryAfter(value: string, hostDate: string): number | null {
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1000, RETRY_AFTER_MAX_MS)
  if (!value.endsWith('GMT')) return null
  const wait = Date.parse(value) - Date.parse(hostDate)
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), RETRY_AFTER_MAX_MS)
}

function positive(value: string): number | null {
  return /^[1-9]\d*$/.test(value) ? Number(value) : null
}
