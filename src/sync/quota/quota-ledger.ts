import { DAY_MS, HOUR_MS } from '../../protocol/clock.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Tx } from '../../synced/synced.ts'
import type { QuotaPort } from '../context.ts'
import { dayOf, onlyReserveLeft, type QuotaState, readQuota } from './quota-state.ts'

const LONGEST_PROMISE_MS = 25 * HOUR_MS
/** For how long the number of used credentials is recorded. Where quota comes free bit by bit, many days begin in it. */
const KEPT_MS = 100 * DAY_MS

/** The day's quota during one run of uploads. Uploads stop only when the host says that the quota is used up. */
export class QuotaLedger {
  readonly #context: QuotaPort
  #probing = false
  /** Credentials that the host issued in this run. */
  granted = 0

  constructor(context: QuotaPort) {
    this.#context = context
  }

  read(): QuotaState {
    const { synced, clock, allowance, others } = this.#context
    return readQuota(synced, allowance, clock.wall(), others)
  }

  /** Whether pictures may be sent. probe: one picture, to find out whether the host grants credentials again. */
  state(): 'open' | 'probe' | 'exhausted' {
    const { exhausted } = this.read()
    if (exhausted === null) return 'open'
    return this.#context.clock.wall() < exhausted.ask ? 'exhausted' : 'probe'
  }

  /** Begins a probe: a request that finds out whether there is quota again. No other request is under way then. */
  probe(): void {
    this.#probing = true
  }

  /** How many more pictures the limit allows today. What others upload with the account does not count. */
  left(): number {
    const { used, exhausted } = this.read()
    return exhausted === null ? Math.max(0, this.#context.allowance.limit - used) : 0
  }

  /** Whether only the reserve for the day's new pictures is left. */
  onlyReserveLeft(): boolean {
    return onlyReserveLeft(this.#context.allowance, this.read())
  }

  /** Notes that the host issued a credential. */
  grant(tx: Tx): void {
    const { account, meta } = tx
    // A person had the host asked, so the time of this grant does not show when the host's day begins.
    if (this.#probing && meta.get('quota_asked')) this.#forgetRefusal(tx)
    const { began, exhausted } = this.read()
    this.granted++
    const day = exhausted === null ? dayOf(began) : this.#probing ? this.#newDay(tx) : meta.get('quota_day')!
    // Only the first grant after the probe ends the refusal. A later one may be the answer to an older request.
    this.#probing = false
    if (day !== meta.get('quota_day')) meta.set('quota_day', day)
    account.useQuota(day)
    this.#context.others?.granted(account.quota(day).used)
  }

  /** Notes that the host said that the day's quota is used up. */
  refuse(tx: Tx, failure: HostFailure): void {
    this.#context.others?.refused(failure.retryAfterMs ?? null)
    this.hearRefusal(tx, failure)
  }

  /** Notes that the host has refused this machine, or a moment ago another one of the account. */
  hearRefusal({ account, meta }: Tx, { retryAfterMs }: HostFailure): void {
    const { clock, allowance } = this.#context
    const now = Math.round(clock.wall())
    const { began, exhausted } = this.read()
    const day = dayOf(began)
    const before = account.quota(day)
    meta.set('quota_day', day)
    meta.set('quota_limit', allowance.limit)
    meta.clear('quota_asked')
    account.exhaustQuota({
      day,
      // A recorded time in the future comes from a clock that was set back. The present time is recorded instead.
      exhausted: Math.min(exhausted?.since ?? now, now),
      said_at: now,
      // When the host still refuses after the time that it named, its times are not believed again on this day.
      resumes_at: !exhausted || isAhead(before.resumes_at, now) ? promised(now, retryAfterMs) : null,
    })
    // The clock may have leapt since the day began, so the earlier time counts.
    account.pruneQuota(dayOf(Math.min(began, now) - KEPT_MS))
  }

  /** Notes that the host grants credentials again after a refusal. Returns the name of the day that begins. */
  #newDay(tx: Tx): string {
    const { clock, allowance } = this.#context
    const now = Math.round(clock.wall())
    tx.meta.set('quota_opened', now)
    this.#forgetRefusal(tx)
    return dayOf(allowance.days?.(now) ?? now)
  }

  #forgetRefusal({ account, meta }: Tx): void {
    account.forgetExhaustion()
    meta.clear('quota_asked')
    this.#context.others?.grantedAgain()
  }
}

function promised(now: number, retryAfterMs: number | undefined): number | null {
  return retryAfterMs !== undefined && retryAfterMs > 0 && retryAfterMs <= LONGEST_PROMISE_MS
    ? Math.round(now + retryAfterMs)
    : null
}

function isAhead(promise: number | null, now: number): boolean {
  return promise !== null && now < promise
}
