import { pauseAt } from '../../src/daemon/pause.ts'
import { albumPathOf } from '../../src/sync/album-name.ts'
import type { Interruption } from '../../src/sync/interruption.ts'
import type { MirrorPolicy } from '../../src/sync/mirror-scans.ts'
import { type PassReport, runPass } from '../../src/sync/pass.ts'
import type { Allowance } from '../../src/sync/quota-state.ts'
import { Auditing } from './auditing.ts'
import { compose } from './compose.ts'
import { DEEDS } from './deeds.ts'
import { Looks, type Sources } from './disk-port.ts'
import { drive } from './drive.ts'
import { Emptied } from './emptied.ts'
import { makeFirstDisk } from './first-disk.ts'
import type { Grounds } from './grounds.ts'
import type { Action, History } from './history.ts'
import { HOST_DEEDS } from './host-deeds.ts'
import type { HostKit } from './host-kit.ts'
import { believeGone } from './ignore-judge.ts'
import { ENDED, Interruptions } from './interruptions.ts'
import { Life } from './life.ts'
import type { Oracle } from './oracle.ts'
import { oracleOf } from './oracle-of.ts'
import { Pausing } from './pausing.ts'
import { Tree } from './people-tree.ts'
import { Pruning } from './pruning.ts'
import { Random } from './random.ts'
import { Resending } from './resending.ts'
import { SavedState } from './saved-state.ts'
import { allowanceOf, PLAIN_SETTING } from './setting.ts'
import { heldPictures, holdsPictures, type StateKit } from './state-kit.ts'
import type { FileNode } from './tree.ts'
import { type Hours, isOpen, openFor } from './upload-hours.ts'
import { MachineClock, quiet, Timeline } from './virtual-clock.ts'
import { VirtualDisk } from './virtual-disk.ts'
import { VirtualHost } from './virtual-host.ts'
import { takeStale } from './watching.ts'

/** Databases are opened once and emptied between histories. */
export interface Kits {
  host: HostKit
  state: StateKit
}

/** More steps in one pass mean that it does not end. */
const STEPS_MAX = 3000
const REQUEST = / (served|refused|in silence)$|delivery/

/** Disk, host, machine and process of one history, and what happens to them. */
export class World {
  readonly time = new Timeline()
  readonly machine = new MachineClock(this.time)
  readonly disk: VirtualDisk
  readonly looks = new Looks(() => this.#running())
  readonly sources: Sources = new WeakMap()
  readonly grounds: Grounds = {
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
  /** What happened, for people; null where nobody reads it. */
  readonly log: string[] | null
  /** What people deleted last, and may want back. */
  readonly trash = new Map<string, FileNode>()
  readonly saved = new SavedState(this)
  readonly pausing: Pausing
  readonly auditing = new Auditing(this)
  readonly resending = new Resending(this)
  readonly pruning = new Pruning(this, () => this.#running())
  readonly emptied = new Emptied(this)
  /** What the config says of the quota. */
  readonly allowance: Allowance
  /** When uploads may begin; null: always. */
  hours: Hours | null
  steps = 0
  life: Life | null = null
  #parts: ReturnType<typeof compose> | null = null
  #fresh = true
  #stepOfPass = 0
  #inPass = false
  #actions: Action[] = []
  readonly #interruptions = new Interruptions(this.time)
  #extraPause = 0
  #ranBefore = 0
  #bornAt = 0

  constructor(history: History, kits: Kits, log: string[] | null = null) {
    this.history = history
    this.log = log
    this.disk = new VirtualDisk(this.time, this.machine, history.setting)
    this.random = new Random(history.seed, 1)
    this.state = kits.state
    this.state.clear()
    this.pausing = new Pausing(this.state.synced)
    this.allowance = allowanceOf(history.setting)
    this.hours = history.setting.hours
    this.mirrors = history.mirrors.map(({ album, deletions }, at) => ({
      folder: `/m${at}`,
      album,
      deletions,
      ignore: [],
    }))
    this.oracle = oracleOf(this, () => this.#running())
    this.tree = new Tree(this, () => this.life !== null)
    this.host = new VirtualHost(
      kits.host,
      this.time,
      new Random(history.seed, 2),
      history.variations,
      this.oracle,
    )
    this.oracle.watch(this.host.truth)
    this.oracle.albumsMissing = () => this.host.faults.albumRefused
    this.oracle.listRefused = () => this.host.faults.listRefused
    makeFirstDisk(this)
  }

  /** Runs one pass, with the actions that fall into it. Null where the process ended before. */
  async pass(number: number, everything = false): Promise<PassReport | null> {
    const { actions, pauses } = this.history
    // What follows these passes is the end, in which nothing happens any more.
    this.#actions = number < pauses.length ? actions.filter(({ pass }) => pass === number) : []
    this.#stepOfPass = 0
    this.#act()
    this.resending.inPeace()
    if (this.#extraPause > 0) await this.rest(0)
    this.#start()
    this.#inPass = true
    this.#say(`pass ${number}`)
    const life = this.life!
    const prunes = this.pruning.passBegins()
    const whole = prunes || everything || this.#fresh || this.random.chance(0.5)
    this.#fresh = false
    const scopes = whole ? 'everything' : takeStale(this.disk, this.mirrors)
    if (scopes === 'everything') this.disk.stale.clear()
    this.#beginPass()
    const interruption = this.#interruptions.begin()
    const ended = new AbortController()
    const paused = this.pausing.holdsAt(this.machine.wall())
    this.#mindHours(life, ended.signal)
    const asked = this.host.askedInAll()
    const work = runPass(
      { ...this.#parts!, onlyLook: this.#isPaused() },
      prunes ? this.mirrors.map(mirror => ({ ...mirror, pruneIgnored: true })) : this.mirrors,
      ({ folder }) => (scopes === 'everything' ? scopes : (scopes.get(folder) ?? [])),
      interruption,
    )
    const report = await drive(work, life, this.time, this.oracle)
    ended.abort(ENDED)
    this.oracle.secrecy.failures(report?.stopped ?? [])
    if (paused && this.host.askedInAll() > asked)
      this.oracle.report('nothing-while-paused', 'albumd asked the host for something')
    if (this.auditing.isAsked && !life.dead && !this.#interruptions.stopped)
      await this.#audit(life, interruption)
    // What was to happen at a later step happens now.
    this.#stepOfPass = Number.POSITIVE_INFINITY
    this.#act()
    this.#stepOfPass = 0
    this.resending.inPeace()
    if (this.#interruptions.stopped && !life.dead) this.#stopLife()
    this.pruning.passEnds()
    if (!life.dead) this.pausing.passEnded()
    this.#inPass = false
    return report
  }

  async #audit(life: Life, interruption: Interruption): Promise<void> {
    const work = this.auditing.stretch(this.#parts!, interruption, () => this.#passOfAudit(life))
    await drive(work, life, this.time, this.oracle)
  }

  /** A look at everything, and what follows from it, to its end: a person has asked for it, and minds no hours. */
  async #passOfAudit(life: Life): Promise<PassReport> {
    for (;;) {
      this.#beginPass()
      this.disk.stale.clear()
      this.oracle.passBegins(null)
      const parts = { ...this.#parts!, onlyLook: this.#isPaused() }
      const report = await runPass(parts, this.mirrors, () => 'everything', this.#interruptions.goOn())
      if (!life.dead) this.pausing.passEnded()
      if (!this.#interruptions.madeWay || this.#interruptions.stopped) return report
    }
  }

  #beginPass(): void {
    believeGone(this.grounds, this.looks)
    this.grounds.pass = this.disk.happens()
    this.grounds.passAt = this.time.now
  }

  #isPaused(): boolean {
    return pauseAt(this.state.synced, this.machine.wall()) !== null
  }

  /** Lets time pass, and with it what was under way. */
  async rest(ms: number): Promise<void> {
    const end = this.time.now + ms + this.#extraPause
    this.#extraPause = 0
    for (let next = this.time.next(); next !== null && next <= end; next = this.time.next()) {
      this.time.advance()
      await quiet()
    }
    this.time.now = Math.max(this.time.now, end)
  }

  step(what: string): void {
    this.steps++
    this.#stepOfPass++
    if (this.log && REQUEST.test(what)) this.log.push(`      ${what}`)
    if (this.#stepOfPass > STEPS_MAX) this.oracle.report('converges', `a pass did not end (${what})`)
    if (this.#actions.length > 0 && this.#actions[0]!.step <= this.#stepOfPass) this.#act(what)
  }

  kill(downMs: number): void {
    this.#extraPause += downMs
    this.#stopLife()
  }

  /** As SIGTERM: nothing new is begun, and after a while what is under way is cut off. */
  end(graceMs: number): void {
    this.#interruptions.end(graceMs)
  }

  pauseUploads(): void {
    this.#interruptions.pauseUploads()
    this.oracle.uploads.shut('uploads pause')
  }

  /** A person wants something of albumd: it is done once the pass has made way, or at once. */
  ask(deed: () => void): void {
    if (this.auditing.isUnderWay) {
      this.auditing.makeWay()
      deed()
    } else if (this.#inPass && this.life) {
      this.#interruptions.makeWay()
      this.oracle.makesWay()
      this.pausing.ask(deed)
    } else deed()
  }

  waitLonger(ms: number): void {
    this.#extraPause += ms
  }

  /** Whatever kept albumd from its work is over. */
  calm(): void {
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
  other(work: Promise<void>): void {
    // The host may refuse others too.
    work.catch(() => {})
  }

  albumPathOf(folder: string): string {
    const mirror = this.mirrors.find(each => folder === each.folder || folder.startsWith(`${each.folder}/`))!
    return albumPathOf(mirror.album, folder.slice(mirror.folder.length + 1)).join('/')
  }

  /** As the daemon: outside their hours no uploads begin, and at the border those under way come to their end. */
  #mindHours(life: Life, ended: AbortSignal): void {
    const { hours, machine, oracle } = this
    const why = 'outside its hours'
    const open = hours === null || isOpen(hours, machine.wall())
    oracle.passBegins(open ? null : why)
    const close = () => {
      this.#interruptions.pauseUploads()
      oracle.uploads.shut(why)
    }
    if (!open) close()
    else if (hours)
      void life.clock.sleep(openFor(hours, machine.wall()), ended).then(() => {
        if (!ended.aborted) close()
      })
  }

  #start(): void {
    if (this.life && !this.life.dead) return
    this.life = new Life(this.time, this.machine, this.random, what => this.step(what))
    this.#bornAt = this.time.now
    // It looks at everything first.
    this.#fresh = true
    this.#parts = compose(this, this.life, this.saved.knowsLess)
    this.saved.knowsLess = false
    this.#say('a process starts')
  }

  #stopLife(): void {
    if (!this.life || this.life.dead) return
    this.life.dead = true
    this.oracle.secrecy.records()
    if (this.#inPass) this.oracle.quota.processEnded()
    this.pausing.processEnded()
    this.auditing.processEnded()
    this.#ranBefore += this.time.now - this.#bornAt
    this.life = null
  }

  #act(where = 'in peace'): void {
    while (this.#actions.length > 0 && this.#actions[0]!.step <= this.#stepOfPass) {
      const { deed, a, b } = this.#actions.shift()!
      const act = DEEDS[deed] ?? HOST_DEEDS[deed]!
      const what = act(this, a, b)
      this.pruning.somethingHappened()
      this.#say(`  ${deed}: ${what} (${where})`)
    }
  }

  #say(line: string): void {
    this.log?.push(line)
  }

  /** What the engine tells, for people. */
  hear(line: () => string): void {
    if (this.log) this.log.push(line())
  }
}
