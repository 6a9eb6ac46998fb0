import { pauseAt } from '../../../src/daemon/state/pause.ts'
import { runPass } from '../../../src/sync/pass.ts'
import type {
  Interruption,
  MirrorPolicy,
  News,
  PassReport,
  PassTask,
  Scope,
} from '../../../src/sync/pass-request.ts'
import { verifyLinks } from '../../../src/sync/uploads/index.ts'
import type { VirtualDisk } from '../disk/virtual-disk.ts'
import type { Action } from '../histories/history.ts'
import { isOpen, openFor } from '../histories/setting.ts'
import { believeGone } from '../judges/ignore-judge.ts'
import type { Oracle } from '../judges/oracle.ts'
import { RefusalJudge } from '../judges/upload-judge.ts'
import { mustTellTruth } from '../judges/waits-judge.ts'
import { ACTIONS } from '../people/actions.ts'
import { HOST_ACTIONS } from '../people/host-actions.ts'
import { ENDED, Interruptions } from './interruptions.ts'
import { type Life, quiet, type Timeline } from './virtual-clock.ts'
import type { World } from './world.ts'

/** More steps in one pass mean that it does not end. */
const STEPS_MAX = 3000
/** After so many milliseconds the daemon scans what is stale. */
const NEWS_MS = 20
/** A scan beside the uploads takes no longer: it waits for none of them. */
const NEWS_MOST_MS = 2000
const REQUEST = / (served|refused|in silence)$|delivery/

/** The passes of a history, and what happens at their steps. */
export class Passes {
  readonly #world: World
  readonly #interruptions: Interruptions
  steps = 0
  #stepOfPass = 0
  #actions: Action[] = []
  #inPass = false
  #adopts = false
  #retries = false
  #comparesLinks = false
  /** The news that are about to be scanned, or are scanned. */
  #newsAt: News | null = null
  /** When the pass began, by the machine's clock. */
  beganAt = 0
  /** Of the pass; null: the history has none. */
  #news: News | null = null

  constructor(world: World) {
    this.#world = world
    this.#interruptions = new Interruptions(world.time)
  }

  get isUnderWay(): boolean {
    return this.#inPass
  }

  /** Everything happens at once that was to happen from this pass on. */
  hurry(from: number): void {
    this.#actions = this.#world.history.actions.filter(({ pass }) => pass >= from)
    this.#stepOfPass = Number.POSITIVE_INFINITY
    this.#act()
    this.#stepOfPass = 0
    this.#adopts = false
    this.#retries = false
  }

  /** Runs one pass, with the actions that fall into it. Null where the process ended before. */
  async run(number: number, everything = false): Promise<PassReport | null> {
    const world = this.#world
    const { actions, pauses } = world.history
    // What follows these passes is the end, in which nothing happens any more.
    this.#actions = number < pauses.length ? actions.filter(({ pass }) => pass === number) : []
    this.#stepOfPass = 0
    this.#act()
    world.stripping.passBegins(number)
    world.stripping.inPeace()
    world.resending.inPeace()
    if (world.isDown) await world.rest(0)
    const isFresh = world.startProcess()
    if (isFresh && world.seat && !(await world.seat.open(world.life!))) {
      if (world.seat.isOut) world.sights.see('out')
      world.endProcess()
      return null
    }
    this.#inPass = true
    this.#say(`pass ${number}`)
    const life = world.life!
    world.alike.passBegins()
    const prunes = world.pruning.passBegins()
    const whole = prunes || everything || isFresh || world.random.chance(0.5)
    const scopes = whole ? 'everything' : takeStale(world.disk, world.mirrors)
    if (scopes === 'everything') world.disk.stale.clear()
    this.#beginPass()
    const interruption = this.#interruptions.begin(this.#newsOf(life))
    const ended = new AbortController()
    const paused = world.pausing.holdsAt(world.machine.wall())
    this.#mindHours(life, ended.signal)
    const asked = world.host.askedInAll()
    const refusals = new RefusalJudge(world)
    const due = world.oracle.quota.due()
    const task = this.#taskOfPass()
    world.closing.passBegins(task)
    const work = runPass(world.parts!, {
      mirrors: prunes ? world.mirrors.map(mirror => ({ ...mirror, pruneIgnored: true })) : world.mirrors,
      interruption,
      scopeOf: ({ folder }) => (scopes === 'everything' ? scopes : (scopes.get(folder) ?? [])),
      task: refusals.of(task),
    })
    const report = await drive(work, life, world.time, world.oracle)
    refusals.judge()
    if (report) world.closing.passEnds(report)
    world.stripping.passEnds()
    ended.abort(ENDED)
    world.oracle.secrecy.failures(report?.stopped ?? [])
    if (report?.stopped.some(({ code }) => code === 'DAILY_LIMIT_REACHED')) world.oracle.quota.stopped(due)
    if (paused && world.host.askedInAll() > asked)
      world.oracle.report('nothing-while-paused', 'albumd asked the host for something')
    await this.#compareLinks(life, interruption)
    if (world.auditing.isAsked && !life.dead && !this.#interruptions.stopped)
      await this.#audit(life, interruption)
    // What was to happen at a later step happens now.
    this.#stepOfPass = Number.POSITIVE_INFINITY
    this.#act()
    this.#stepOfPass = 0
    world.stripping.inPeace()
    world.resending.inPeace()
    if (this.#isLast(number) && !life.dead) world.endProcess()
    world.pruning.passEnds()
    if (!life.dead) world.pausing.passEnded()
    this.#inPass = false
    world.sights.see('pass')
    mustTellTruth(world)
    world.moments.note()
    return report
  }

  /** Whether the process ends with this pass, by a person's wish or by itself. */
  #isLast(number: number): boolean {
    const { pauses, syncs } = this.#world.history
    return this.#interruptions.stopped || (syncs === true && number < pauses.length)
  }

  async #compareLinks(life: Life, { stop }: Interruption): Promise<void> {
    if (!this.#comparesLinks || life.dead) return
    this.#comparesLinks = false
    await drive(verifyLinks(this.#world.parts!, stop), life, this.#world.time, this.#world.oracle)
  }

  async #audit(life: Life, interruption: Interruption): Promise<void> {
    const work = this.#world.auditing.stretch(this.#world.parts!, interruption, () => this.#passOfAudit(life))
    await drive(work, life, this.#world.time, this.#world.oracle)
  }

  /** A look at everything, and what follows from it, to its end: a person has asked for it, and minds no hours. */
  async #passOfAudit(life: Life): Promise<PassReport> {
    for (;;) {
      this.#beginPass()
      this.#world.disk.stale.clear()
      this.#world.oracle.passBegins(null)
      const { parts, mirrors } = this.#world
      const report = await runPass(parts!, {
        mirrors,
        interruption: this.#interruptions.goOn(this.#newsOf(life)),
        task: this.#task() === 'look' ? 'look' : 'put',
      })
      if (!life.dead) this.#world.pausing.passEnded()
      if (!this.#interruptions.madeWay || this.#interruptions.stopped) return report
    }
  }

  #beginPass(): void {
    const { doubts, looks, disk, time, machine } = this.#world
    believeGone(doubts, looks)
    this.beganAt = machine.wall()
    doubts.pass = disk.happens()
    doubts.passAt = time.now
  }

  /** A person may have asked that what the host holds is adopted, and nothing sent; or that what failed is tried again. */
  #taskOfPass(): PassTask {
    const task = this.#task()
    if (task === 'look') return task
    if (!this.#adopts) {
      const retries = this.#retries
      this.#retries = false
      if (retries) this.#world.oracle.retries()
      return retries ? 'retry' : task
    }
    this.#adopts = false
    this.#world.oracle.adopts()
    return 'adopt'
  }

  #task(): 'look' | 'mirror' {
    return pauseAt(this.#world.state.synced, this.#world.machine.wall()) === null ? 'mirror' : 'look'
  }

  step(what: string): void {
    this.steps++
    if (this.#world.state.isDue()) this.#world.cutPower()
    this.#stepOfPass++
    if (this.#world.log && REQUEST.test(what)) this.#world.log.push(`      ${what}`)
    if (this.#stepOfPass > STEPS_MAX) this.#world.oracle.report('converges', `a pass did not end (${what})`)
    if (this.#actions.length > 0 && this.#actions[0]!.step <= this.#stepOfPass) this.#act(what)
  }

  /** As SIGTERM: nothing new is begun, and after a while what is under way is cut off. */
  end(graceMs: number): void {
    this.#interruptions.end(graceMs)
  }

  pauseUploads(): void {
    this.#interruptions.pauseUploads()
    this.#world.oracle.uploads.shut('uploads pause')
  }

  /** A person wants something of albumd: it is done once the pass has made way, or at once. */
  ask(command: () => void): void {
    if (this.#world.auditing.isUnderWay) {
      this.#world.auditing.makeWay()
      command()
    } else if (this.#inPass && this.#world.life) {
      this.#interruptions.makeWay()
      this.#world.oracle.makesWay()
      this.#world.pausing.ask(command)
    } else command()
  }

  /** The next pass links pictures to what the host holds, and does nothing else. */
  onlyAdopt(): void {
    this.#adopts = true
  }

  /** The next pass deletes only what the host has refused to delete before. */
  onlyRetry(): void {
    this.#retries = true
  }

  /** After this pass, or the next, the bytes of linked images are compared. */
  alsoCompareLinks(): void {
    this.#comparesLinks = true
  }

  /** As the daemon: outside their hours no uploads begin, and at the border those under way come to their end. */
  #mindHours(life: Life, ended: AbortSignal): void {
    const { hours, machine, oracle } = this.#world
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

  #newsOf(life: Life): News | null {
    const { history, disk } = this.#world
    const add = (mirror: string, folders: readonly string[]) => {
      this.#world.sights.see('left out')
      for (const folder of folders) disk.stale.add(folder === '' ? mirror : `${mirror}/${folder}`)
      this.#tellNews(life)
    }
    this.#news = history.news ? { scan: null, add } : null
    return this.#news
  }

  /** As the daemon: what has become stale is scanned beside the uploads. */
  #tellNews(life: Life): void {
    const news = this.#news
    if (!news?.scan || this.#newsAt === news) return
    this.#newsAt = news
    const { time, disk, mirrors, sights, oracle } = this.#world
    time.after(NEWS_MS, async () => {
      this.#newsAt = null
      if (life.dead || this.#news !== news || !news.scan || disk.stale.size === 0) return
      if (this.#interruptions.stopped || this.#interruptions.madeWay) return
      sights.see('scans beside')
      const { doubts, looks } = this.#world
      believeGone(doubts, looks)
      this.#newsAt = news
      const scopes = takeStale(disk, mirrors)
      const late = time.now + NEWS_MOST_MS
      await news.scan(({ folder }) => scopes.get(folder) ?? [])
      this.#newsAt = null
      if (life.dead) return
      if (time.now > late) oracle.report('news-are-scanned', 'a scan beside the uploads has waited for them')
      this.#tellNews(life)
    })
  }

  #act(where = 'in peace'): void {
    while (this.#actions.length > 0 && this.#actions[0]!.step <= this.#stepOfPass) {
      const { kind, a, b } = this.#actions.shift()!
      const act = ACTIONS[kind] ?? HOST_ACTIONS[kind]!
      const what = act(this.#world, a, b)
      this.#world.pruning.somethingHappened()
      this.#world.sights.see(`does ${kind}`)
      this.#say(`  ${kind}: ${what} (${where})`)
    }
    if (this.#world.life) this.#tellNews(this.#world.life)
  }

  #say(line: string): void {
    this.#world.log?.push(line)
  }
}

/** What watchers have told of since they were last asked: by mirror, the folders below it. */
export function takeStale(disk: VirtualDisk, mirrors: readonly MirrorPolicy[]): Map<string, Scope> {
  const stale = [...disk.stale]
  disk.stale.clear()
  return new Map(
    mirrors.map(({ folder }) => [
      folder,
      stale
        .filter(path => path === folder || path.startsWith(`${folder}/`))
        .map(path => path.slice(folder.length + 1)),
    ]),
  )
}

/** Lets time pass until the work is done, the process has ended or an invariant is violated. Returns the result, or null. */
export async function drive<T>(
  work: Promise<T>,
  life: Life,
  time: Timeline,
  oracle: Oracle,
): Promise<T | null> {
  let over = false
  let result: T | null = null
  work.then(
    value => {
      result = value
      over = true
    },
    error => {
      over = true
      // Whoever is dead may stumble over the records of those who come after.
      if (!life.dead) oracle.report('never-throws', String((error as Error).stack ?? error))
    },
  )
  for (;;) {
    await quiet()
    if (over || life.dead || oracle.violation) return result
    if (time.next() === null) {
      oracle.report('converges', 'a pass waits for ever')
      return null
    }
    if (time.players > 1) await time.turn()
    else time.advance()
  }
}
