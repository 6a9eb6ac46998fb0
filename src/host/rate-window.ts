import type { RateState } from './refusal.ts'

const SECOND = 1000

export type RateVerdict =
  | (RateState & { admitted: true })
  | (RateState & { admitted: false; retryAfterMs: number })

/**
 * §8 as a strict sliding second: a request is admitted only where fewer than `limit` were admitted in the 1000 ms
 * before it. Refused ones do not count. `now` is monotonic milliseconds.
 */
export class RateWindow {
  readonly #limit: number
  #admitted: number[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  take(now: number): RateVerdict {
    if (this.#limit === Number.POSITIVE_INFINITY)
      return { admitted: true, limit: this.#limit, remaining: this.#limit }
    this.#admitted = this.#admitted.filter(at => now - at < SECOND)
    const oldest = this.#admitted[0]
    if (this.#admitted.length >= this.#limit)
      return {
        admitted: false,
        limit: this.#limit,
        remaining: 0,
        retryAfterMs: (oldest ?? now) + SECOND - now,
      }
    this.#admitted.push(now)
    return { admitted: true, limit: this.#limit, remaining: this.#limit - this.#admitted.length }
  }
}
