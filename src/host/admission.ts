import { DECISIONS } from '../protocol/decisions.ts'
import type { Endpoint } from '../protocol/endpoints.ts'
import { PLANS, type Plan } from '../protocol/limits.ts'
import type { Account, Accounts } from './data/accounts.ts'
import type { Clock } from './ports.ts'
import { RateWindow } from './rate-window.ts'
import { type RateState, Refusal } from './refusal.ts'
import type { HostSettings } from './settings.ts'

/** Who may ask what, and how often: key (§5), rate (§8) and plan (§1.5), in this order. */
export function openAdmission(accounts: Accounts, settings: HostSettings, clock: Clock) {
  const windows = new Map<string, RateWindow>()

  /** The account of a key. Refuses a key that is not there (§5.2). */
  function identify(apiKey: string | undefined): Account {
    if (!apiKey) throw new Refusal('MISSING_API_KEY', 'The X-API-Key header is required.')
    const account = accounts.byKey(apiKey)
    if (!account) throw new Refusal('INVALID_API_KEY', 'The API key is not valid.')
    return account
  }

  /** Counts a request. Refuses it where the account has used up the endpoint's second. */
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
    /** Lets a request in that carries a key. */
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
