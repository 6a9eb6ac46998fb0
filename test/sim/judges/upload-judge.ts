import { FORMAT_REFUSED } from '../../../src/remote/failures.ts'
import type { PassTask } from '../../../src/sync/pass-request.ts'
import { triedAgainAt } from '../../../src/sync/quota/index.ts'
import type { World } from '../engine/world.ts'
import { Judge } from './judge.ts'

const DAY_MS = 86_400_000

/** Judges when pictures leave: hours, pauses and what is kept of a day's quota. Each invariant is one function. */
export class UploadJudge extends Judge {
  /** Uploads are not to begin; `why`: for people, `under`: what was under way then and may go on. */
  #shut: { why: string; most: number; under: Set<string> } | null = null
  /** By the day of albumd's clock, what has been sent. */
  readonly #sent = new Map<number, number>()
  /** What was sent of the reserve, though it was older than the day, by day. */
  readonly #spent = new Map<number, Set<string>>()

  /** A pass begins, and uploads may; or (`why`) they may not. */
  passBegins(why: string | null): void {
    this.#shut = why === null ? null : { why, most: 0, under: new Set() }
  }

  /** In mid-pass: those under way come to their end. */
  shut(why: string): void {
    this.#shut ??= { why, most: this.facts.concurrency, under: new Set() }
  }

  credential(name: string): void {
    if (this.#shut?.most === 0)
      this.report('nothing-begins', `an upload of ${name} was asked for: ${this.#shut.why}`)
  }

  /** `daysUnknown`: nobody knows what albumd takes for a day, and what it counts on it. */
  sending(path: string, daysUnknown: boolean): void {
    this.#nothingBegins(path)
    this.#nothingTwiceInABackup(path)
    if (!daysUnknown) this.#reserveIsKept(path)
  }

  #nothingBegins(path: string): void {
    if (this.#shut === null) return
    const { why, most, under } = this.#shut
    if (under.add(path).size > most) this.report('nothing-begins', `${path} was sent: ${why}`)
  }

  /** A backup deletes no image, so a picture that has one would have two for good. */
  #nothingTwiceInABackup(path: string): void {
    const mirror = this.facts.mirrors.find(({ folder }) => path.startsWith(`${folder}/`))
    if (mirror?.deletions === 'keep' && this.facts.recordOf(path)?.state === 'synced')
      this.report('nothing-twice', `${path} of a backup has an image, and was sent again`)
  }

  #reserveIsKept(path: string): void {
    const { allowance, order, concurrency, wall, recordOf } = this.facts
    const day = Math.floor(wall() / DAY_MS)
    const sent = this.#sent.get(day) ?? 0
    this.#sent.set(day, sent + 1)
    const record = recordOf(path)
    if (allowance.limit - sent > allowance.limit * allowance.reserve) return
    if (record?.state === 'synced')
      this.report('reserve-is-kept', `${path}, which has an image, was sent as number ${sent + 1}`)
    const since = record?.since ?? Number.POSITIVE_INFINITY
    const isNew = since >= day * DAY_MS
    if (order !== 'newest' || isNew) return
    const spent = this.#spent.get(day) ?? new Set()
    this.#spent.set(day, spent.add(path))
    if (spent.size > concurrency)
      this.report('reserve-is-kept', `${path}, found on another day, was sent as number ${sent + 1}`)
  }
}

/** Judges how often a pass asks about a format that the host is known to refuse: not at all, or with one picture once it is
 * due, be it during the pass. Made before the pass. */
export class RefusalJudge {
  readonly #world: World
  readonly #before: number
  /** From when on one picture may be sent; null: any. */
  #due: number | null = null

  constructor(world: World) {
    this.#world = world
    const { host, state, machine, allowance, history } = world
    this.#before = host.asked.refused
    const blocks = state.synced.account.blocks().filter(({ code }) => code === FORMAT_REFUSED)
    for (const block of blocks) {
      const isSet = history.actions.some(({ kind }) => kind === 'clockJump')
      const isDue = machine.wall() < block.said_at || isSet
      this.#due = isDue ? Number.NEGATIVE_INFINITY : triedAgainAt(block, allowance)
    }
  }

  /** The same task. A person may have all tried again. */
  of(task: PassTask): PassTask {
    if (task === 'retry') this.#due = null
    return task
  }

  judge(): void {
    const { host, machine, oracle } = this.#world
    const asked = host.asked.refused - this.#before
    if (this.#due !== null && asked > (machine.wall() >= this.#due ? 1 : 0))
      oracle.report('format-waits', `${asked} pictures were sent of a format that the host refuses`)
  }
}
