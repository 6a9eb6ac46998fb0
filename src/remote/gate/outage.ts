import { isUnreachable } from '../failures.ts'
import type { HostFailure } from '../host.ts'

/** The delay after the first failure. Each further failure doubles the delay. */
const FIRST_DELAY_MS = 250
/** When the host asks to wait for longer than this, requests do not wait, but fail at once with the last failure. */
const PATIENT_MS = 60_000
/** While one request probes the host, the other requests check this often whether the probe has ended. */
const PROBE_POLL_MS = 250

/** After `attempts` failures in a row requests fail with the last one, and one at a time probes, after `maxDelayMs` at most. */
export interface Patience {
  attempts: number
  maxDelayMs: number
}

export interface OutageOptions extends Patience {
  /** A number from 0 to 1. */
  random(): number
}

/** An outage of one endpoint, or of the whole host. After a failure all requests wait while one probes. After `attempts`
 * failures in a row it lasts: requests fail at once, so that a backlog of 10,000 pictures sends one probe every few minutes,
 * and not 10,000 requests that fail. Times are milliseconds of a monotonic clock. */
export class Outage {
  readonly #options: OutageOptions
  #failures = 0
  #last: HostFailure | null = null
  /** When the last failure was counted. */
  #since = 0
  #until = 0
  #probing = false

  constructor(options: OutageOptions) {
    this.#options = options
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** The last failure, when the outage lasts and no probe is due yet; else null. */
  lasting(now: number): HostFailure | null {
    const isLong = this.#failures >= this.#options.attempts || asksForLong(this.#last?.retryAfterMs)
    return isLong && this.#until > now ? this.#last : null
  }

  /** Milliseconds until a request may be sent; 0 when a request may be sent now. */
  waitMs(now: number): number {
    if (this.#until > now) return this.#until - now
    return this.#probing ? PROBE_POLL_MS : 0
  }

  /** Call this when a request is sent. True: the request probes the host, and the others wait until it has ended. */
  enter(): boolean {
    if (this.#failures > 0) this.#probing = true
    return this.#failures > 0
  }

  /** Call this when the request that probed the host has ended. */
  leave(): void {
    this.#probing = false
  }

  /** Counts the failure of a request that was sent at `sent`. Those that were under way together fail together, and count
   * once. `retryAfterMs`: all requests wait at least so long (§7). */
  failed(sent: number, now: number, failure: HostFailure, retryAfterMs: number | null): void {
    if (sent < this.#since) return
    this.#failures++
    this.#last = failure
    this.#since = now
    this.#until = now + backoffMs(this.#failures, retryAfterMs, this.#options)
  }

  /** A request succeeded that was sent at `sent`. When it was sent before the last failure, its success does not show that
   * the outage is over, and nothing changes. Returns whether the success ended an outage that lasted. */
  passed(sent: number): boolean {
    if (sent < this.#since) return false
    const lasted = this.#failures >= this.#options.attempts
    this.#failures = 0
    this.#until = 0
    return lasted
  }

  /** The next probe is due now, as a person asked. Only the rate (§8) is still kept to. */
  probeNow(): void {
    if (this.#last?.code !== 'RATE_LIMITED') this.#until = 0
  }

  /** After no answer the next probe is due now. A wait that the host has asked for is still kept. */
  probeSoon(): void {
    if (this.#last && isUnreachable(this.#last) && !asksForLong(this.#last.retryAfterMs)) this.#until = 0
  }
}

/** How long to wait after so many failures: a random part ("full jitter", §7) of a doubling delay, or as the host asked for. */
export function backoffMs(
  failures: number,
  retryAfterMs: number | null,
  { random, maxDelayMs }: Omit<OutageOptions, 'attempts'>,
): number {
  const jittered = random() * Math.min(maxDelayMs, FIRST_DELAY_MS * 2 ** (failures - 1))
  return Math.max(jittered, retryAfterMs ?? 0)
}

/** Whether the host asks for such a long wait that requests fail at once with the last failure. */
export function asksForLong(retryAfterMs: number | null | undefined): boolean {
  return (retryAfterMs ?? 0) > PATIENT_MS
}
