import { isUnreachable } from '../failures.ts'
import type { HostFailure } from '../host.ts'

/** The delay after the first failure. Each further failure doubles the delay. */
const FIRST_DELAY_MS = 250
/** The longest wait for which requests stay. When the host asks for a longer one, they fail at once with the last failure. */
const PATIENT_MS = 60_000
/** How often the waiting requests check whether the probe of the host has ended. */
const PROBE_POLL_MS = 250

/** After `attempts` failures in a row, requests fail with the last one. One probes at a time, after `maxDelayMs` at most. */
export interface Patience {
  attempts: number
  maxDelayMs: number
}

export interface OutageOptions extends Patience {
  /** A number from 0 to 1. */
  random(): number
}

/** An outage of one endpoint, or of the whole host. After a failure all requests wait while one probes the host. After `attempts`
 * failures in a row the outage counts as lasting, and requests fail at once. So a backlog of 10,000 pictures sends one probe
 * every few minutes, and not 10,000 requests that fail. Times are milliseconds of a monotonic clock. */
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

  /** Counts the failure of a request that was sent at `sent`. Requests that were under way together fail together, and count
   * once. `retryAfterMs`: for how long all requests wait at least (§7). */
  failed(sent: number, now: number, failure: HostFailure, retryAfterMs: number | null): void {
    if (sent < this.#since) return
    this.#failures++
    this.#last = failure
    this.#since = now
    this.#until = now + backoffMs(this.#failures, retryAfterMs, this.#options)
  }

  /** A request that was sent at `sent` succeeded. Nothing changes when it was sent before the last failure, because it does not
   * show then that the outage is over. Returns whether it ended an outage that lasted. */
  passed(sent: number): boolean {
    if (sent < this.#since) return false
    const lasted = this.#failures >= this.#options.attempts
    this.#failures = 0
    this.#until = 0
    return lasted
  }

  /** Makes the next probe due now, because a person asked. Only the rate (§8) is kept. */
  probeNow(): void {
    if (this.#last?.code !== 'RATE_LIMITED') this.#until = 0
  }

  /** Makes the next probe due now, when the host did not answer. A wait that the host asked for is kept. */
  probeSoon(): void {
    if (this.#last && isUnreachable(this.#last) && !asksForLong(this.#last.retryAfterMs)) this.#until = 0
  }
}

/** How long to wait after failures: a random part of a doubling delay ("full jitter", §7), or as long as the host asked. */
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
