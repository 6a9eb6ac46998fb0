import { isAway } from '../failures.ts'
import type { HostFailure } from '../host.ts'
import { type Backoff, backoffMs } from './backoff.ts'

/** How long those wait who let another request find out whether the trouble is over. */
const LOOK_AGAIN_MS = 250

/** A request's stay with an endpoint. */
export interface Visit {
  since: number
  probe: boolean
}

export interface TroubleOptions extends Backoff {
  /** After so many failures in a row nobody waits for its end any more. */
  attempts: number
}

/**
 * Passing trouble of one endpoint or of the whole host, shared by all requests that it concerns: after a failure all
 * of them wait, and then one goes ahead; the others follow where it succeeds. Once it lasts, they are told so instead,
 * until it is time for the next to go ahead. So an outage of hours costs a request now and then, not one for each
 * picture. Times are monotonic milliseconds.
 */
export class Trouble {
  readonly #options: TroubleOptions
  #failures = 0
  #last: HostFailure | null = null
  #since = 0
  #until = 0
  #probing = false

  constructor(options: TroubleOptions) {
    this.#options = options
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** What the host said at last, where it lasts and nobody is to ask before a while has passed. */
  lasting(now: number): HostFailure | null {
    return this.#failures >= this.#options.attempts && this.#until > now ? this.#last : null
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
  failed(visit: Visit, now: number, failure: HostFailure, retryAfterMs: number | null): void {
    if (visit.since < this.#since) return
    this.#failures++
    this.#last = failure
    this.#since = now
    this.#until = now + backoffMs(this.#failures, retryAfterMs, this.#options)
  }

  /** The success of a request from before the trouble says nothing of it. Answers whether it ended one that lasted. */
  passed(visit: Visit): boolean {
    if (visit.since < this.#since) return false
    const lasted = this.#failures >= this.#options.attempts
    this.#failures = 0
    this.#until = 0
    return lasted
  }

  /** The host may be there again: what was unreachable may be asked at once. What was asked too often waits on. */
  hurry(): void {
    if (this.#last && isAway(this.#last)) this.#until = 0
  }

  leave(visit: Visit): void {
    if (visit.probe) this.#probing = false
  }
}
