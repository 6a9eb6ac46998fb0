import { DECISIONS } from '../protocol/decisions.ts'
import type { Endpoint } from '../protocol/endpoints.ts'
import { PLANS, type Plan } from '../protocol/limits.ts'
import type { Account } from './data/accounts.ts'
import { type RateState, Refusal } from './refusal.ts'
import type { Stores } from './stores.ts'

/** Checks a request's key (§5), rate (§8) and plan (§1.5), in this order. */
export function openAdmission({ accounts, settings, clock }: Stores) {
  const windows = new Map<string, RateWindow>()

  /** Counts a request. Refuses the request when the account has used up the endpoint's rate. */
  function count(accountId: number, endpoint: Endpoint): RateState {
    const key = `${accountId} ${endpoint}`
    const window = windows.get(key) ?? new RateWindow(settings.requestsPerSecond[endpoint])
    windows.set(key, window)
    const { retryAfterMs, ...rate } = window.take(clock.monotonic())
    if (retryAfterMs === null) return rate
    const message = `At most ${rate.limit} requests a second are allowed here.`
    throw new Refusal('RATE_LIMITED', message, { rate, retryAfterMs })
  }

  return {
    count,
    /** Admits a request that carries a key. */
    admit(apiKey: string | undefined, endpoint: Endpoint): { account: Account; rate: RateState } {
      const account = accounts.identify(apiKey)
      const rate = count(account.id, endpoint)
      const from: Plan = endpoint === 'upload' ? DECISIONS.uploadFrom : settings.plansFrom
      if (PLANS.indexOf(settings.plan) < PLANS.indexOf(from))
        throw new Refusal('PLAN_NOT_SUPPORTED', `This endpoint begins with the ${from} plan.`, { rate })
      return { account, rate }
    },
  }
}

const SECOND = 1000

/**
 * The rate of §8 as a strict sliding second. A request is admitted when fewer than `limit` requests were admitted in the 1000 ms
 * before it. Refused requests do not count. `now`: monotonic milliseconds.
 */
export class RateWindow {
  readonly #limit: number
  #admitted: number[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** `retryAfterMs`: after how long a request will be admitted. Null: this request is admitted. */
  take(now: number): RateState & { retryAfterMs: number | null } {
    const limit = this.#limit
    if (limit === Number.POSITIVE_INFINITY) return { limit, remaining: limit, retryAfterMs: null }
    this.#admitted = this.#admitted.filter(at => now - at < SECOND)
    if (this.#admitted.length >= limit)
      return { limit, remaining: 0, retryAfterMs: (this.#admitted[0] ?? now) + SECOND - now }
    this.#admitted.push(now)
    return { limit, remaining: limit - this.#admitted.length, retryAfterMs: null }
  }
}
