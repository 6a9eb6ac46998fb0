import type { HostFailure } from '../../remote/host.ts'
import type { Tx } from '../../synced/synced.ts'
import { clockOffset } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import { afterReset, daysFrom, type LearnedReset, learnReset } from './quota-day.ts'
import { dayOf, learnedReset, type QuotaState, readQuota } from './quota-state.ts'

type Context = Pick<EngineContext, 'synced' | 'clock' | 'allowance'>

/** Where the clocks drift apart by more, one of them was set, or the machine slept. */
const DRIFT_MS = 60_000
/** The host may keep its promise so late. */
const LATE_MS = 600_000
const LONGEST_PROMISE_MS = 25 * 3_600_000
/** So many days stay on record. */
const DAYS_KEPT = 100

/** The day's quota through one run of uploads. Only the host's word that it is used up stops them. */
export class QuotaLedger {
  readonly #context: Context
  #probing = false
  /** Credentials that the host issued in this run. */
  granted = 0

  constructor(context: Context) {
    this.#context = context
  }

  read(): QuotaState {
    const { synced, clock, allowance } = this.#context
    return readQuota(synced, allowance, clock.wall())
  }

  /** Whether pictures may go; `probe`: one may, to ask. */
  state(): 'open' | 'probe' | 'exhausted' {
    const { exhausted } = this.read()
    if (exhausted === null) return 'open'
    return this.#context.clock.wall() < exhausted.ask ? 'exhausted' : 'probe'
  }

  /** From here on one request is under way at a time, so its answer is newer than the host's last word. */
  probe(): void {
    this.#probing = true
  }

  /** How many more today by our count. Others may use the account too. */
  left(): number {
    const { used, exhausted } = this.read()
    return exhausted === null ? Math.max(0, this.#context.allowance.limit - used) : 0
  }

  /** Whether by our count only the reserve for the day's new pictures is left. */
  onlyReserveLeft(): boolean {
    const { limit, reserve } = this.#context.allowance
    return reserve > 0 && limit - this.read().used <= limit * reserve
  }

  /** The host issued a credential. */
  grant(tx: Tx): void {
    const { account, meta } = tx
    const { began, exhausted } = this.read()
    this.granted++
    const day = exhausted === null ? dayOf(began) : this.#probing ? this.#newDay(tx) : meta.get('quota_day')!
    // Further grants may answer requests that left before the host's next word.
    this.#probing = false
    meta.set('quota_day', day)
    account.useQuota(day)
  }

  /** The host said that the day's quota is used up. */
  refuse({ account, meta }: Tx, { retryAfterMs }: HostFailure): void {
    const { clock, allowance } = this.#context
    const now = Math.round(clock.wall())
    const { began, exhausted, learned } = this.read()
    const day = dayOf(began)
    const before = account.quota(day)
    if (exhausted && learned && !allowance.days && !afterReset(learned, exhausted.since, now))
      meta.clear('quota_reset')
    meta.set('quota_day', day)
    account.exhaustQuota({
      day,
      // When the clock was set back since, the end would seem that much farther away.
      exhausted: Math.min(exhausted?.since ?? now, now),
      said_at: now,
      // When the host did not keep its promise, it is not believed again on that day.
      resumes_at: !exhausted || stands(before.resumes_at, now) ? promised(now, retryAfterMs) : null,
      clock_offset: clockOffset(clock),
    })
    account.pruneQuota(DAYS_KEPT)
  }

  /** The host grants again what it refused, which tells when its day begins. Answers the day. */
  #newDay(tx: Tx): string {
    const { clock, allowance } = this.#context
    const now = Math.round(clock.wall())
    const learned = allowance.days ? null : this.#learn(tx, now)
    const days = allowance.days ?? (learned && daysFrom(learned.to))
    tx.account.forgetExhaustion()
    return dayOf(days ? days(now) : now)
  }

  #learn(tx: Tx, now: number): LearnedReset | null {
    const { clock } = this.#context
    const known = learnedReset(tx)
    const { said_at, resumes_at, clock_offset } = tx.account.quota(tx.meta.get('quota_day')!)
    if (said_at === null || clock_offset === null) return known
    // One of the two times is wrong, so nothing can be learned from them.
    if (Math.abs(clockOffset(clock) - clock_offset) > DRIFT_MS) return known
    const isKept = resumes_at !== null && now >= resumes_at && now - resumes_at <= LATE_MS
    const learned = learnReset(known, isKept ? Math.max(said_at, resumes_at - DRIFT_MS) : said_at, now)
    if (learned) tx.meta.set('quota_reset', learned)
    else tx.meta.clear('quota_reset')
    return learned
  }
}

function promised(now: number, retryAfterMs: number | undefined): number | null {
  return retryAfterMs !== undefined && retryAfterMs > 0 && retryAfterMs <= LONGEST_PROMISE_MS
    ? Math.round(now + retryAfterMs)
    : null
}

function stands(promise: number | null, now: number): boolean {
  return promise !== null && now < promise
}
