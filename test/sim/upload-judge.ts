import type { OracleParts } from './oracle-parts.ts'

const DAY_MS = 86_400_000
/** What has passed the gate before it heard of the quota leaves within so long. */
const LEAVING_MS = 20
/** Less than any pause between two questions about a quota that is used up. */
const PROBE_GAP_MS = 60_000

/** Judges when pictures leave: hours, pauses and what is kept of a day's quota. Each invariant is one function. */
export class UploadJudge {
  readonly #parts: OracleParts
  readonly #report: (invariant: string, what: string) => void
  /** Uploads are not to begin; `why`: for people, `under`: what was under way then and may go on. */
  #shut: { why: string; most: number; under: Set<string> } | null = null
  /** By the day of albumd's clock, what has been sent. */
  readonly #sent = new Map<number, number>()
  /** What was sent of the reserve, though it was older than the day, by day. */
  readonly #spent = new Map<number, Set<string>>()
  #quotaRefused = false
  /** When the host last said that the quota is used up, by albumd's clock; null: nobody knows of it. */
  #refusedAt: number | null = null

  constructor(parts: OracleParts, report: (invariant: string, what: string) => void) {
    this.#parts = parts
    this.#report = report
  }

  /** A pass begins, and uploads may; or (`why`) they may not. */
  passBegins(why: string | null): void {
    this.#shut = why === null ? null : { why, most: 0, under: new Set() }
  }

  /** In mid-pass: those under way come to their end. */
  shut(why: string): void {
    this.#shut ??= { why, most: this.#parts.concurrency, under: new Set() }
  }

  /** The host says that the day's quota is used up: from then on albumd's days may be other ones. */
  refused(): void {
    this.#quotaRefused = true
    this.#refusedAt = this.#parts.wall()
  }

  /** The process ended before it could write down what it heard. */
  forgetRefusal(): void {
    this.#refusedAt = null
  }

  credential(name: string): void {
    this.#askedOnceInAWhile(name)
    if (this.#shut?.most === 0)
      this.#report('nothing-begins', `an upload of ${name} was asked for: ${this.#shut.why}`)
  }

  sending(path: string, stateLost: boolean): void {
    this.#nothingBegins(path)
    if (!stateLost && !this.#quotaRefused) this.#reserveIsKept(path)
  }

  /** A quota that is known to be used up is asked about now and then. A clock that was set, and a new day, are a reason. */
  #askedOnceInAWhile(name: string): void {
    if (this.#refusedAt === null) return
    const now = this.#parts.wall()
    const ago = now - this.#refusedAt
    const sameDay = Math.floor(now / DAY_MS) === Math.floor(this.#refusedAt / DAY_MS)
    if (sameDay && ago > LEAVING_MS && ago < PROBE_GAP_MS)
      this.#report(
        'quota-is-believed',
        `an upload of ${name} was asked for ${ago} ms after the quota was used up`,
      )
  }

  #nothingBegins(path: string): void {
    if (this.#shut === null) return
    const { why, most, under } = this.#shut
    if (under.add(path).size > most) this.#report('nothing-begins', `${path} was sent: ${why}`)
  }

  #reserveIsKept(path: string): void {
    const { allowance, order, concurrency, wall, recordOf } = this.#parts
    const day = Math.floor(wall() / DAY_MS)
    const sent = this.#sent.get(day) ?? 0
    this.#sent.set(day, sent + 1)
    const since = recordOf(path)?.since ?? Number.POSITIVE_INFINITY
    const isNew = since >= day * DAY_MS
    if (order !== 'newest' || isNew || allowance.limit - sent > allowance.limit * allowance.reserve) return
    const spent = this.#spent.get(day) ?? new Set()
    this.#spent.set(day, spent.add(path))
    if (spent.size > concurrency)
      this.#report('reserve-is-kept', `${path}, found on another day, was sent as number ${sent + 1}`)
  }
}
