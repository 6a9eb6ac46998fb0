import type { OpenUpload } from '../../synced/tables/journal.ts'

/** What could not be decided when nothing can arrive any more is asked about seldom: each look walks an album. */
const UNDECIDED_MS = 3_600_000
/** Before that, what was sent a short time ago may show any moment. */
const SOON_MS = 10_000

/** When uploads in doubt are looked for. It lives as long as the process: a new one looks at once. */
export class RecoveryPace {
  readonly #next = new Map<number, number>()

  /** `now`: monotonic milliseconds. */
  isDue({ id }: OpenUpload, now: number): boolean {
    return now >= (this.#next.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /** It was looked for, in vain. `earlyUntil`: until then it is looked for at once; `endsAt`: when it can't arrive. */
  looked({ id }: OpenUpload, now: number, earlyUntil: number, endsAt: number): void {
    const next = now < earlyUntil ? now + SOON_MS : now <= endsAt ? endsAt + 1 : now + UNDECIDED_MS
    this.#next.set(id, next)
  }

  /** Those that are settled are forgotten. */
  keepOnly(open: readonly OpenUpload[]): void {
    const ids = new Set(open.map(({ id }) => id))
    for (const id of this.#next.keys()) if (!ids.has(id)) this.#next.delete(id)
  }
}
