import { type Backoff, backoffMs } from './backoff.ts'

/** How long those wait who let another request find out whether the trouble is over. */
const LOOK_AGAIN_MS = 250

/** A request's stay with an endpoint. */
export interface Visit {
  since: number
  probe: boolean
}

/**
 * Passing trouble of one endpoint, shared by all its requests: after a failure all of them wait, and then one
 * goes ahead; the others follow where it succeeds. So an outage of hours costs a request now and then, not
 * one for each picture. Times are monotonic milliseconds.
 */
export class Trouble {
  readonly #backoff: Backoff
  #failures = 0
  #since = 0
  #until = 0
  #probing = false

  constructor(backoff: Backoff) {
    this.#backoff = backoff
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** Milliseconds after which it is worth asking again; 0 where a request may go. */
  waitMs(now: number): number {
    if (this.#until > now) return this.#until - now
    return this.#probing ? LOOK_AGAIN_MS : 0
  }

  enter(now: number): Visit {
    const probe = this.#failures > 0
    if (probe) this.#probing = true
    return { since: now, probe }
  }

  /**
   * `retryAfterMs`: the least that all wait. Requests that were under way together fail together: that is one
   * failure.
   */
  failed(visit: Visit, now: number, retryAfterMs: number | null): void {
    if (visit.since < this.#since) return
    this.#failures++
    this.#since = now
    this.#until = now + backoffMs(this.#failures, retryAfterMs, this.#backoff)
  }

  /** The success of a request from before the trouble says nothing of it. */
  passed(visit: Visit): void {
    if (visit.since < this.#since) return
    this.#failures = 0
    this.#until = 0
  }

  leave(visit: Visit): void {
    if (visit.probe) this.#probing = false
  }
}
