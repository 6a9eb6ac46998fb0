import { albumPathOf } from '../../../src/sync/album.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import type { PassEvent } from '../../../src/sync/pass-events.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import type { Allowance } from '../../../src/sync/quota/quota-state.ts'
import { Looks, type Sources } from '../disk/disk-port.ts'
import type { FileNode } from '../disk/tree.ts'
import { VirtualDisk } from '../disk/virtual-disk.ts'
import type { History } from '../histories/history.ts'
import { Random } from '../histories/random.ts'
import { allowanceOf, type Hours, PLAIN_SETTING } from '../histories/setting.ts'
import { AlikeAlbums } from '../host/alike-albums.ts'
import type { HostKit } from '../host/host-kit.ts'
import type { Truth } from '../host/host-truth.ts'
import { VirtualHost } from '../host/virtual-host.ts'
import { Copies } from '../judges/copies.ts'
import type { Doubts } from '../judges/doubts.ts'
import { Emptied } from '../judges/emptied.ts'
import { oracleOf } from '../judges/facts.ts'
import { Moments } from '../judges/moments.ts'
import type { Oracle } from '../judges/oracle.ts'
import { Pruning } from '../judges/pruning.ts'
import { ClosingJudge } from '../judges/upload-judge.ts'
import type { Seat } from '../machines/seat.ts'
import { makeFirstDisk } from '../people/first-disk.ts'
import { Tree } from '../people/people-tree.ts'
import { Sights } from '../reach/sights.ts'
import { Auditing } from './auditing.ts'
import { compose } from './compose.ts'
import { Passes } from './passes.ts'
import { Pausing } from './pausing.ts'
import { Resending } from './resending.ts'
import { heldPictures, holdsPictures, SavedState, type StateKit } from './state-kit.ts'
import { Stripping } from './stripping.ts'
import { Life, MachineClock, quiet, Timeline } from './virtual-clock.ts'

/** Databases are opened once and emptied between histories. */
export interface Kits {
  host: HostKit
  state: StateKit
  /** Of a second machine. */
  second: StateKit
}

/** What decides about times and chances. */
export interface Fate {
  time: Timeline
  random: Random
  ofHost: Random
}

function fateOf(seed: number): Fate {
  return { time: new Timeline(), random: new Random(seed, 1), ofHost: new Random(seed, 2) }
}

/** Disk, host, machine and process of one history, and what happens to them. */
export class World {
  readonly time: Timeline
  readonly machine: MachineClock
  readonly disk: VirtualDisk
  readonly looks: Looks
  readonly sources: Sources = new WeakMap()
  readonly doubts: Doubts = {
    otherRoot: new Map(),
    trusted: new Set(),
    lostMount: new Map(),
    ignoreGone: new Map(),
    emptied: mirror => this.emptied.doubtAbout(mirror),
    heldPictures: folder => heldPictures(this.state.synced, folder),
    holdsPictures: folder => holdsPictures(this.state.synced, folder),
    pass: 0,
    passAt: 0,
  }
  readonly mirrors: MirrorPolicy[]
  readonly host: VirtualHost
  readonly oracle: Oracle
  readonly tree: Tree
  readonly history: History
  readonly state: StateKit
  readonly random: Random
  /** What the engine tells; null while no judge listens. */
  told: PassEvent[] | null = null
  /** What happened, for people; null where nobody reads it. */
  readonly log: string[] | null
  /** What people deleted last, and may want back. */
  readonly trash = new Map<string, FileNode>()
  readonly saved = new SavedState(this)
  readonly pausing: Pausing
  readonly auditing = new Auditing(this)
  readonly resending = new Resending(this)
  readonly stripping = new Stripping(this)
  readonly pruning = new Pruning(this, () => this.#waited())
  readonly emptied = new Emptied(this)
  readonly copies = new Copies(this)
  readonly alike = new AlikeAlbums(this)
  readonly sights = new Sights(this)
  readonly closing = new ClosingJudge(this)
  /** What the config says of the quota. */
  readonly allowance: Allowance
  /** When uploads may begin; null: always. */
  hours: Hours | null
  readonly passes: Passes
  readonly moments: Moments
  /** The process that runs now, and what it is made of. */
  life: Life | null = null
  parts: EngineContext | null = null
  /** Its machine's place beside another machine with the same account; null: it is alone. */
  readonly seat: Seat | null
  /** The host's truth as this machine sees it. */
  readonly truth: Truth
  #extraPause = 0
  #ranBefore = 0
  #bornAt = 0

  /** `fate`: what decides about times and chances; left out: the history's seed. */
  constructor(
    history: History,
    kits: Kits,
    log: string[] | null = null,
    seat: Seat | null = null,
    fate: Fate = fateOf(history.seed),
  ) {
    this.history = history
    this.log = log
    this.seat = seat
    this.time = seat?.time ?? fate.time
    this.machine = new MachineClock(this.time, history.ticks)
    this.looks = new Looks(
      () => this.#waited(),
      folder => this.copies.isLookedAt(folder),
    )
    this.passes = new Passes(this)
    this.disk = new VirtualDisk(this.time, this.machine, history.setting)
    this.random = fate.random
    this.state = kits.state
    this.state.clear()
    this.pausing = new Pausing(this.state)
    this.allowance = allowanceOf(history.setting, history.order)
    this.hours = history.setting.hours
    this.mirrors = history.mirrors.map(({ album, deletions }, at) => ({
      folder: `/m${at}`,
      album,
      deletions,
      ignore: [],
    }))
    this.oracle = oracleOf(
      this,
      () => this.#running(),
      () => this.#waited(),
    )
    this.tree = new Tree(this, () => this.life !== null)
    this.host = seat?.host ?? new VirtualHost(kits.host, this.time, fate.ofHost, history.variations)
    if (history.news) this.host.sendMs = 5000
    this.truth = seat?.sit(this) ?? this.host.truth
    if (!seat) this.host.events.push(this.oracle)
    this.oracle.watch(this.truth)
    this.oracle.albumsMissing = () => this.host.faults.albumRefused
    this.oracle.listRefused = () => this.host.faults.listRefused
    this.moments = new Moments(this)
    makeFirstDisk(this)
  }

  /** Lets time pass, and with it what was under way. */
  async rest(ms: number): Promise<void> {
    const end = this.time.now + ms + this.#extraPause
    this.#extraPause = 0
    if (this.seat) return this.seat.rest(end)
    for (let next = this.time.next(); next !== null && next <= end; next = this.time.next()) {
      this.time.advance()
      await quiet()
    }
    this.time.now = Math.max(this.time.now, end)
  }

  kill(downMs: number): void {
    this.#extraPause += downMs
    this.endProcess('killed')
  }

  /** The machine ends with all that its disk had not synced, and boots again. */
  cutPower(): void {
    this.log?.push('  the power is cut')
    this.#extraPause += 20_000
    this.endProcess('cut')
    this.machine.reboot()
    this.state.cut()
  }

  /** Whether time is to pass before anything else happens. */
  get isDown(): boolean {
    return this.#extraPause > 0
  }

  waitLonger(ms: number): void {
    this.#extraPause += ms
  }

  /** Whatever kept albumd from its work is over. */
  calm(): void {
    this.state.calm()
    this.pausing.resume()
    this.auditing.forget()
    this.resending.forget()
    this.hours = null
    this.allowance.limit = PLAIN_SETTING.limit
  }

  /** True time that albumd ran, in milliseconds. */
  #running(): number {
    return this.#ranBefore + (this.life ? this.time.now - this.#bornAt : 0)
  }

  /** What another person does takes no time. */
  other(work: Promise<unknown>): void {
    // The host may refuse others too.
    work.catch(() => {})
  }

  /** By what deletions wait: a daemon's own running time, or the clock when a command begins. */
  #waited(): number {
    return this.history.syncs ? this.passes.beganAt : this.#running()
  }

  albumPathOf(folder: string): string {
    const mirror = this.mirrors.find(each => folder === each.folder || folder.startsWith(`${each.folder}/`))!
    return albumPathOf(mirror.album, folder.slice(mirror.folder.length + 1)).join('/')
  }

  /** Starts a process where none runs. Answers whether it did. */
  startProcess(): boolean {
    if (this.life && !this.life.dead) return false
    this.life = new Life(this.time, this.machine, this.random, what => this.passes.step(what))
    this.#bornAt = this.time.now
    this.seat?.begin(this.life)
    this.parts = compose(this, this.life, this.saved.knowsLess)
    this.saved.knowsLess = false
    this.log?.push('a process starts')
    return true
  }

  endProcess(how: 'closed' | 'killed' | 'cut' = 'closed'): void {
    if (!this.life || this.life.dead) return
    if (how !== 'closed') this.sights.crashes()
    this.life.dead = true
    this.oracle.secrecy.records()
    if (this.passes.isUnderWay) this.oracle.quota.processEnded()
    this.pausing.processEnded()
    this.auditing.processEnded()
    this.#ranBefore += this.time.now - this.#bornAt
    this.life = null
    if (how !== 'cut') this.state.end(how)
  }

  /** What the engine tells, for people. */
  hear(line: () => string): void {
    if (this.log) this.log.push(line())
  }
}
