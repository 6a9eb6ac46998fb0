import { isUnreachable } from '../failures.ts'
import type { HostFailure } from '../host.ts'

/** The delay after the first failure; each further failure doubles it. */
const FIRST_DELAY_MS = 250
/** When the host asks to wait for longer than this, requests do not wait but are answered with the last failure. */
const PATIENT_MS = 60_000
/** While one request probes the host, the others look this often whether the probe has ended. */
const PROBE_POLL_MS = 250

/**
 * How an outage is waited out. After `attempts` failures in a row, waiting requests are answered with the last failure.
 * From then on only one request at a time probes the host, after a delay of at most `maxDelayMs`.
 */
export interface Patience {
  attempts: number
  maxDelayMs: number
}

export interface OutageOptions extends Patience {
  /** A number from 0 to 1. */
  random(): number
}

/**
 * How one endpoint, or the whole host, fails at the moment. All requests that the outage concerns share it: after a
 * failure all of them wait, then one request probes the host, and the others follow when the probe succeeds. Once the
 * outage lasts (`attempts` failures in a row), the requests are answered with the last failure instead of waiting.
 * Example: while the host is down for an hour, a backlog of 10,000 pictures sends a probe every few minutes, and not
 * 10,000 requests that fail. All times are milliseconds of a monotonic clock.
 */
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

  /** The last failure, when the outage lasts and the next probe is not due yet; else null. */
  lasting(now: number): HostFailure | null {
    const isLong = this.#failures >= this.#options.attempts || asksForLong(this.#last?.retryAfterMs)
    return isLong && this.#until > now ? this.#last : null
  }

  /** Milliseconds to wait before asking again; 0 when a request may be sent now. */
  waitMs(now: number): number {
    if (this.#until > now) return this.#until - now
    return this.#probing ? PROBE_POLL_MS : 0
  }

  /** Call it when a request is sent. True: the request probes the host; while it is under way the others wait. */
  enter(): boolean {
    if (this.#failures > 0) this.#probing = true
    return this.#failures > 0
  }

  /** The request that probed the host has ended. */
  leave(): void {
    this.#probing = false
  }

  /**
   * A request failed that was sent at `sent`. `retryAfterMs`: how long the host asks to wait (Retry-After, §7); all requests
   * wait at least so long. Requests that were under way at the same time fail together, so only the first of them counts.
   */
  failed(sent: number, now: number, failure: HostFailure, retryAfterMs: number | null): void {
    if (sent < this.#since) return
    this.#failures++
    this.#last = failure
    this.#since = now
    this.#until = now + backoffMs(this.#failures, retryAfterMs, this.#options)
  }

  /**
   * A request succeeded. When it was sent before the last failure, it does not show that the outage is over, and changes
   * nothing. Returns whether the success ended an outage that lasted.
   */
  passed(sent: number): boolean {
    if (sent < this.#since) return false
    const lasted = this.#failures >= this.#options.attempts
    this.#failures = 0
    this.#until = 0
    return lasted
  }

  /** Makes a probe due now, when the host was unreachable. A host that asked for fewer requests is still given its time. */
  probeSoon(): void {
    if (this.#last && isUnreachable(this.#last) && !asksForLong(this.#last.retryAfterMs)) this.#until = 0
  }
}

/**
 * Milliseconds to wait after so many failures in a row: exponential with full jitter, as §7 advises clients, and at least
 * as long as the host asked for with `Retry-After`.
 */
export function backoffMs(
  failures: number,
  retryAfterMs: number | null,
  { random, maxDelayMs }: Pick<OutageOptions, 'random' | 'maxDelayMs'>,
): number {
  const jittered = random() * Math.min(maxDelayMs, FIRST_DELAY_MS * 2 ** (failures - 1))
  return Math.max(jittered, retryAfterMs ?? 0)
}

/** Whether the host asks to wait for so long that requests are answered with the last failure. */
export function asksForLong(retryAfterMs: number | null | undefined): boolean {
  return (retryAfterMs ?? 0) > PATIENT_MS
}
