import { albumPathOf } from '../../src/sync/album-name.ts'
import type { MirrorPolicy } from '../../src/sync/mirror-scans.ts'
import { type PassReport, runPass } from '../../src/sync/pass.ts'
import { compose } from './compose.ts'
import { DEEDS } from './deeds.ts'
import { Looks, type Sources } from './disk-port.ts'
import { drive } from './drive.ts'
import { makeFirstDisk } from './first-disk.ts'
import type { Grounds } from './grounds.ts'
import type { Action, History } from './history.ts'
import { HOST_DEEDS } from './host-deeds.ts'
import type { HostKit } from './host-kit.ts'
import { Life } from './life.ts'
import { Oracle } from './oracle.ts'
import { Tree } from './people-tree.ts'
import { Random } from './random.ts'
import { heldPictures, holdsPictures, recordedAt, type Saved, type StateKit } from './state-kit.ts'
import type { FileNode } from './tree.ts'
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
  readonly disk = new VirtualDisk(this.time, this.machine)
  readonly looks = new Looks()
  readonly sources: Sources = new WeakMap()
  readonly grounds: Grounds = {
    otherRoot: new Map(),
    lostMount: new Map(),
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
  steps = 0
  life: Life | null = null
  #parts: ReturnType<typeof compose> | null = null
  #saved: Saved | null = null
  /** The state is another one than the last process left. */
  #knowsLess = false
  #fresh = true
  #stepOfPass = 0
  #actions: Action[] = []
  #interruption = newInterruption()
  #extraPause = 0
  #ranBefore = 0
  #bornAt = 0

  constructor(history: History, kits: Kits, log: string[] | null = null) {
    this.history = history
    this.log = log
    this.random = new Random(history.seed, 1)
    this.state = kits.state
    this.state.clear()
    this.mirrors = history.mirrors.map(({ album, deletions }, at) => ({
      folder: `/m${at}`,
      album,
      deletions,
      ignore: [],
    }))
    const { disk, looks, sources, mirrors, grounds } = this
    const { hold, variations } = history
    const wholeAlbums = history.albumDeletions === 'recursive'
    const running = () => this.#ranBefore + (this.life ? this.time.now - this.#bornAt : 0)
    const recordOf = (path: string) => recordedAt(this.state.synced, mirrors, path)
    const isLinked = (id: string) => kits.state.synced.images.byRemoteId(id)?.proof === 'none'
    const mayBeDeleted = (id: string) => {
      const { images, journal } = this.state.synced
      const image = images.byRemoteId(id)
      return image !== undefined && journal.deletionOf(image.id) !== undefined
    }
    this.oracle = new Oracle({
      disk,
      looks,
      sources,
      mirrors,
      hold,
      variations,
      grounds,
      running,
      isLinked,
      mayBeDeleted,
      recordOf,
      wholeAlbums,
    })
    this.tree = new Tree(this, () => this.life !== null)
    this.host = new VirtualHost(kits.host, this.time, new Random(history.seed, 2), variations, this.oracle)
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
    if (this.#extraPause > 0) await this.rest(0)
    this.#start()
    this.#say(`pass ${number}`)
    const life = this.life!
    const whole = everything || this.#fresh || this.random.chance(0.5)
    this.#fresh = false
    const scopes = whole ? 'everything' : takeStale(this.disk, this.mirrors)
    if (scopes === 'everything') this.disk.stale.clear()
    this.grounds.pass = this.disk.happens()
    this.grounds.passAt = this.time.now
    this.#interruption = newInterruption()
    const { stop, cut, pause } = this.#interruption
    const signals = { stop: stop.signal, cut: cut.signal, pauseUploads: pause.signal }
    const work = runPass(
      this.#parts!,
      this.mirrors,
      ({ folder }) => (scopes === 'everything' ? scopes : (scopes.get(folder) ?? [])),
      signals,
    )
    const report = await drive(work, life, this.time, this.oracle)
    // What was to happen at a later step happens now.
    this.#stepOfPass = Number.POSITIVE_INFINITY
    this.#act()
    this.#stepOfPass = 0
    if (stop.signal.aborted && !life.dead) this.#stopLife()
    return report
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
    const { stop, cut } = this.#interruption
    stop.abort()
    this.time.after(graceMs, () => cut.abort())
  }

  pauseUploads(): void {
    this.#interruption.pause.abort()
  }

  waitLonger(ms: number): void {
    this.#extraPause += ms
  }

  saveState(): void {
    this.#saved = this.state.save()
  }

  restoreState(downMs: number): boolean {
    if (!this.#saved) return false
    this.#replaceState(downMs)
    this.state.restore(this.#saved)
    return true
  }

  loseState(downMs: number): void {
    this.#replaceState(downMs)
    this.state.clear()
  }

  #replaceState(downMs: number): void {
    this.kill(downMs)
    this.#knowsLess = true
    this.oracle.forgetDeletions()
    this.host.mayBlink = false
    this.looks.clear()
    this.grounds.lostMount.clear()
    this.grounds.otherRoot.clear()
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

  #start(): void {
    if (this.life && !this.life.dead) return
    this.life = new Life(this.time, this.machine, this.random, what => this.step(what))
    this.#bornAt = this.time.now
    // It looks at everything first.
    this.#fresh = true
    this.#parts = compose(this, this.life, this.#knowsLess)
    this.#knowsLess = false
    this.#say('a process starts')
  }

  #stopLife(): void {
    if (!this.life || this.life.dead) return
    this.life.dead = true
    this.#ranBefore += this.time.now - this.#bornAt
    this.life = null
  }

  #act(where = 'in peace'): void {
    while (this.#actions.length > 0 && this.#actions[0]!.step <= this.#stepOfPass) {
      const { deed, a, b } = this.#actions.shift()!
      const act = DEEDS[deed] ?? HOST_DEEDS[deed]!
      const what = act(this, a, b)
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

function newInterruption() {
  return { stop: new AbortController(), cut: new AbortController(), pause: new AbortController() }
}
