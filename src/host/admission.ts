import { DECISIONS } from '../protocol/decisions.ts'
import type { Endpoint } from '../protocol/endpoints.ts'
import { PLANS, type Plan } from '../protocol/limits.ts'
import type { Account, Accounts } from './data/accounts.ts'
import type { Clock, HostSettings } from './ports.ts'
import { type RateState, Refusal } from './refusal.ts'

/** Checks a request's key (§5), rate (§8) and plan (§1.5), in this order. */
export function openAdmission(accounts: Accounts, settings: HostSettings, clock: Clock) {
  const windows = new Map<string, RateWindow>()

  /** The account of a key. Refuses an unknown key (§5.2). */
  function identify(apiKey: string | undefined): Account {
    if (!apiKey) throw new Refusal('MISSING_API_KEY', 'The X-API-Key header is required.')
    const account = accounts.byKey(apiKey)
    if (!account) throw new Refusal('INVALID_API_KEY', 'The API key is not valid.')
    return account
  }

  /** Counts a request. Refuses the request when the account has used up the endpoint's rate. */
  function count(accountId: number, endpoint: Endpoint): RateState {
    const key = `${accountId} ${endpoint}`
    const window = windows.get(key) ?? new RateWindow(settings.requestsPerSecond[endpoint])
    windows.set(key, window)
    const rate = window.take(clock.monotonic())
    if (rate.admitted) return rate
    const message = `At most ${rate.limit} requests a second are allowed here.`
    throw new Refusal('RATE_LIMITED', message, { rate, retryAfterMs: rate.retryAfterMs })
  }

  return {
    identify,
    count,
    /** Admits a request that carries a key. */
    admit(apiKey: string | undefined, endpoint: Endpoint): { account: Account; rate: RateState } {
      const account = identify(apiKey)
      const rate = count(account.id, endpoint)
      const from: Plan = endpoint === 'upload' ? DECISIONS.uploadFrom : settings.plansFrom
      if (PLANS.indexOf(settings.plan) < PLANS.indexOf(from))
        throw new Refusal('PLAN_NOT_SUPPORTED', `This endpoint begins with the ${from} plan.`, { rate })
      return { account, rate }
    },
  }
}

const SECOND = 1000

export type RateVerdict =
  | (RateState & { admitted: true })
  | (RateState & { admitted: false; retryAfterMs: number })

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
