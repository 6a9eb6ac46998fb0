import { DAY_MS } from '../../protocol/clock.ts'
import type { Endpoint } from '../../protocol/endpoints.ts'
import type { AnswerHeaders } from '../http/exchange.ts'

/** A "second" of §8 in the strictest reading: no second, wherever it begins, holds more requests than the limit. There are two
 * milliseconds more, because the clocks of host and machine run at slightly different speeds. */
const SECOND_MS = 1002
/** The host counts when requests arrive, which is between their leaving and their answer. A request that took longer than the
 * quickest may have arrived later by the difference. The guard is for a request that is quicker than any before. */
const GUARD_MS = 22
/** After so many answers, and as many as a second allows, one of them was quick. */
const FIRST = 10
/** For how long a request without an answer may still arrive. */
const UNDER_WAY_MS = 1000
/** How often a request that waits for the answer of another looks whether this answer has come. */
const LOOK_MS = 20
/** How long after its answer a request counts, when the answer was as quick as usual. Then it counts in no second of the host. */
export const WINDOW_MS = SECOND_MS + GUARD_MS

/** A place in the window, for one request. */
export interface Slot {
  /** Whether the place may be another machine's by now, so that the request must not leave. Left out: it stays this one's. */
  isOver?(now: number): boolean
  start(now: number): void
  answered(now: number): void
  release(): void
}

/** What the gate asks of the rate window of an endpoint: this machine's own, or one that several machines share. */
export interface RequestWindow extends Pick<RateWindow, 'recent' | 'waitMs' | 'adopt'> {
  take(): Slot
  /** Call this when the host answered RATE_LIMITED. `waitMs`: for how long other machines must not send either. */
  tooMuch?(waitMs: number | null): void
  /** Call this when a request begins to wait for a place. Returns the function to call when it waits no longer. */
  enter?(): () => void
}

/** The requests of the process before this one, by a clock that both share: for each that may still count, its latest arrival. A
 * number: how many there were is not known, and the last may have arrived then. Null: none counts. */
export type EarlierRequests = Partial<Record<Endpoint, number[]>> | number | null

/** The time span within which a request has arrived at the host. */
interface Arrival {
  earliest: number
  latest: number
}

/** The recent requests of one endpoint. All times are milliseconds of a monotonic clock.
 *
 * Example, with a limit of 2 a second: request A leaves at 0 and its answer comes at 80; request B leaves at 5 and its
 * answer has not come yet. A arrived between 0 and 80, B arrives between 5 and 1005. A third request may leave at 1082,
 * because A then arrived more than a second ago, wherever in its span. If B's answer comes at 105, and the quickest answer,
 * A's, took 80, then B was 20 slower than the quickest one. B counts as having arrived at 47 at the latest, with the guard of 22,
 * and a fourth request may leave at 1049. */
export class RateWindow {
  readonly #most: number
  #limit: number
  #arrivals: Arrival[]
  /** Places that were taken, and whose request has not started yet. */
  #taken = 0
  #answers = 0
  /** How long the quickest answer took. */
  #quickestMs = Number.POSITIVE_INFINITY

  /** `before`: the latest arrivals of the process before this one. A limit of Infinity counts none. */
  constructor(limit: number, before: readonly number[] = []) {
    this.#most = limit
    this.#limit = limit
    this.#arrivals = before.map(latest => ({ earliest: latest, latest }))
  }

  /** The requests that still count at `now`: for each, the latest time at which it can have arrived. */
  recent(now: number): number[] {
    return this.#arrivals.map(({ latest }) => latest).filter(latest => latest > now - SECOND_MS)
  }

  /** Milliseconds until a place may be free. A place that was taken counts as if its request started now. */
  waitMs(now: number): number {
    this.#arrivals = this.#arrivals.filter(({ latest }) => latest > now - SECOND_MS)
    const over = this.#arrivals.length + this.#taken - this.#limit
    if (over < 0) return 0
    const soonest = this.#arrivals.map(({ earliest }) => earliest).sort((a, b) => a - b)[over]
    if (soonest === undefined) return WINDOW_MS
    const wait = soonest + SECOND_MS - now
    // When nothing is free by then, an answer is late or missing.
    return wait > 0 ? wait : LOOK_MS
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
      /** Call this when the first byte leaves; connecting can take any time. Returns the latest arrival. */
      start: (now: number): number => {
        release()
        arrival.earliest = now
        arrival.latest = now + UNDER_WAY_MS
        if (this.#limit !== Number.POSITIVE_INFINITY) this.#arrivals.push(arrival)
        return arrival.latest
      },
      /** Call this when the answer has come. Returns when the request had arrived at the latest. */
      answered: (now: number): number => {
        const took = now - arrival.earliest
        this.#quickestMs = Math.min(this.#quickestMs, took)
        // The first answers may all be late, for example because the host has just started.
        const isFirst = ++this.#answers <= Math.max(this.#most, FIRST)
        const longer = isFirst ? took : took - this.#quickestMs
        arrival.latest = Math.min(arrival.latest, now, arrival.earliest + GUARD_MS + longer)
        arrival.earliest = arrival.latest
        return arrival.latest
      },
      /** Gives the place back when the request never started. */
      release,
    }
  }

  /** Takes over the limit that the host names in an answer (§7), unless it is above the configured limit. */
  adopt(limit: number): void {
    this.#limit = Math.min(this.#most, limit)
  }
}

/** When the last process's requests arrived at an endpoint. When their number is not known, there are as many as the limit. */
export function arrivedBefore(earlier: EarlierRequests, endpoint: Endpoint, limit: number): number[] {
  if (earlier === null || limit === Number.POSITIVE_INFINITY) return []
  return typeof earlier === 'number' ? Array(limit).fill(earlier + UNDER_WAY_MS) : (earlier[endpoint] ?? [])
}

/** What an answer's headers say about the rate (§7). Null: missing, or not understood. */
export interface Pace {
  retryAfterMs: number | null
  /** Requests a second. */
  limit: number | null
}

export const NO_PACE: Pace = { retryAfterMs: null, limit: null }

export function paceOf(headers: AnswerHeaders): Pace {
  return {
    retryAfterMs: retryAfter(headers['retry-after']?.trim() ?? '', headers.date ?? ''),
    limit: positive(headers['x-ratelimit-limit']?.trim() ?? ''),
  }
}

/** The longest wait that a host may ask for: a week. A longer one is a mistake. */
const RETRY_AFTER_MAX_MS = 7 * DAY_MS

/** The wait of a `Retry-After` in seconds or as a date (RFC 9110, 10.2.3). A date is compared with the host's own `Date`. */
function retryAfter(value: string, hostDate: string): number | null {
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1000, RETRY_AFTER_MAX_MS)
  if (!value.endsWith('GMT')) return null
  const wait = Date.parse(value) - Date.parse(hostDate)
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), RETRY_AFTER_MAX_MS)
}

function positive(value: string): number | null {
  return /^[1-9]\d*$/.test(value) ? Number(value) : null
}
