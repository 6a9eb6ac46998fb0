import { FORMAT_REFUSED, HOST_REFUSES } from '../../../src/remote/failures.ts'
import type { PassEvent } from '../../../src/sync/pass-events.ts'
import type { PassReport, PassTask } from '../../../src/sync/pass-request.ts'
import { triedAgainAt } from '../../../src/sync/quota/index.ts'
import type { BlockRow } from '../../../src/synced/tables/account.ts'
import { textOf } from '../../../src/synced/tables/files.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import { CLOSED } from '../host/faults.ts'
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
  /** By path, how many credentials were too old in this pass. */
  readonly tooOld = new Map<string, number>()

  /** A pass begins, and uploads may; or (`why`) they may not. */
  passBegins(why: string | null): void {
    this.#shut = why === null ? null : { why, most: 0, under: new Set() }
    this.tooOld.clear()
  }

  /** Where an older one was taken, as far as albumd can measure, it does not know: then the picture may wait. */
  credentialTooOld(path: string, mayBeKnown: boolean): void {
    this.tooOld.set(path, mayBeKnown ? (this.tooOld.get(path) ?? 0) + 1 : Number.POSITIVE_INFINITY)
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

/** A picture may use up so many credentials that are too old before it waits. */
const CREDENTIALS = 3
/** So many requests may be refused until albumd knows that the host refuses all. */
const REQUESTS = 12
/** So many different pictures show it. */
const PICTURES = 3
/** Albumd may ask so much later than it could. */
const LATE_MS = 60_000

/** Judges what becomes of pictures while the host refuses all that comes to an endpoint, and of those whose credentials are too
 * old. */
export class ClosingJudge {
  readonly #world: World
  /** What had failed in the host's words when it last took a picture, or when something else went wrong. */
  #failed: ReadonlySet<string> = new Set()
  #hasTaken = false
  #struck = { closed: 0, others: 0 }
  #asked = 0
  #wall = 0
  #wasBlocked = false
  /** The block that is known when the pass begins, and that only time and the host end. */
  #block: BlockRow | undefined

  constructor(world: World) {
    this.#world = world
  }

  /** `task`: a person may have all tried again. */
  passBegins(task: PassTask): void {
    const { host, machine, history } = this.#world
    this.#struck = { ...host.faults.struck }
    this.#asked = host.askedInAll()
    this.#wall = machine.wall()
    this.#hasTaken = false
    const isSet = history.actions.some(({ kind }) => kind === 'clockJump')
    const block = this.#blocked()
    this.#wasBlocked = block !== undefined
    this.#block = task === 'retry' || isSet ? undefined : block
  }

  hear({ event }: PassEvent): void {
    if (event !== 'picture_uploaded') return
    this.#hasTaken = true
    this.#failed = this.#failedNow()
  }

  passEnds({ stopped }: PassReport): void {
    this.#mustAskAgain()
    this.#mustProbe(stopped)
    if (this.#world.host.faults.lastClosed === null) return
    this.#asksFew()
    this.#noneFails()
    this.#endsWithSuccess()
    this.#saysWhatTheHostSays()
  }

  #report(what: string): void {
    this.#world.oracle.report('refused-to-all', what)
  }

  #blocked(): BlockRow | undefined {
    const { account } = this.#world.state.synced
    return account.blocks().find(({ code, endpoint }) => code === HOST_REFUSES && OF_PICTURES.has(endpoint))
  }

  #failedNow(): ReadonlySet<string> {
    const { host, state } = this.#world
    const { lastClosed } = host.faults
    if (lastClosed === null) return new Set()
    return new Set(state.synced.failures.uploadsOfCode(lastClosed.code || 'UNNAMED').map(textOf))
  }

  get #isTroubled(): boolean {
    return this.#world.host.faults.struck.others > this.#struck.others
  }

  #asksFew(): void {
    const { host, machine, allowance } = this.#world
    const { struck, lastClosed } = host.faults
    const asked = struck.closed - this.#struck.closed
    const isKnown = this.#block?.endpoint === lastClosed!.endpoint && !this.#hasTaken
    const isDue = !isKnown || machine.wall() >= triedAgainAt(this.#block!, allowance)
    // The gate asks twice in an outage, and a credential may seem to be too old.
    const ofProbe = lastClosed!.endpoint === 'send' ? CREDENTIALS : lastClosed!.status === 503 ? 2 : 1
    const most = isKnown ? ofProbe : REQUESTS
    if (asked > (isDue ? most : 0)) this.#report(`${asked} requests were refused in one pass`)
  }

  #noneFails(): void {
    const failed = this.#failedNow()
    const anew = [...failed].filter(path => !this.#failed.has(path))
    if (this.#isTroubled) this.#failed = failed
    else if (anew.length >= PICTURES) this.#report(`${anew.length} pictures have failed by it`)
  }

  /** What was under way when the host began to refuse all may still arrive. */
  #endsWithSuccess(): void {
    const { closed } = this.#world.host.faults.struck
    const isOver = this.#hasTaken && closed === this.#struck.closed
    if (isOver && this.#blocked()) this.#report('the host takes pictures, and is said to refuse all')
  }

  #saysWhatTheHostSays(): void {
    const { struck } = this.#world.host.faults
    const isAnew = struck.closed > this.#struck.closed && !this.#wasBlocked
    const block = isAnew && !this.#isTroubled ? this.#blocked() : undefined
    if (block && !inWords(block.message).includes(CLOSED))
      this.#report(`it is said: ${inWords(block.message)}`)
  }

  #mustProbe(stopped: PassReport['stopped']): void {
    const { host, allowance } = this.#world
    const isDue = this.#block && this.#wall >= this.#block.said_at + allowance.probeEveryMs + LATE_MS
    const isRefused = stopped.some(({ code }) => code === HOST_REFUSES)
    if (isDue && isRefused && host.askedInAll() === this.#asked)
      this.#report('the host is not asked whether it takes pictures again')
  }

  /** Where a credential was too old, another one is asked for at once. */
  #mustAskAgain(): void {
    const { oracle, history, host, state, mirrors } = this.#world
    const isHindered =
      this.#isTroubled ||
      host.faults.struck.closed > this.#struck.closed ||
      history.variations.without.includes('list') ||
      host.faults.listRefused ||
      oracle.quota.wasRefused
    if (isHindered) return
    for (const [path, times] of oracle.uploads.tooOld)
      if (times < CREDENTIALS && rowAt(state.synced, mirrors, path)?.state === 'failed')
        oracle.report('asks-again', `${path} waits after ${times} credentials that were too old`)
  }
}

const OF_PICTURES: ReadonlySet<string> = new Set(['upload', 'send'])
