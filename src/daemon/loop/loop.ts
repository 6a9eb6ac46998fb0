import type { Config } from '../../config/schema.ts'
import { EventQueue } from '../../local/event-queue.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Interruption, News, PassReport } from '../../sync/pass-request.ts'
import { Bell } from '../bell.ts'
import { Refused } from '../commands/command.ts'
import { type CommandQueue, ENDED, type Session } from '../commands/queue.ts'
import type { Engine, PassOptions } from '../engine/engine.ts'
import type { Bus } from '../events.ts'
import { isOpen, nextBorder } from '../report/upload-hours.ts'
import { pauseAt } from '../state/pause.ts'
import { type MirrorWatcher, openMirrorWatcher } from '../watch/mirror-watcher.ts'
import { StaleFolders } from '../watch/stale-folders.ts'
import { noticeStandstills } from '../watch/standstills.ts'
import { watchRecord } from '../watch/watching.ts'
import { type DueOptions, dueMs, restMs, type ScheduledAudit, SLICE_MS, sleepUntil } from './schedule.ts'

export interface LoopOptions extends DueOptions {
  config: Pick<Config, 'mirrors' | 'uploads'> & { watch?: Pick<Config['watch'], 'poll'> }
  engine: Pick<Engine, 'pass'>
  interruption: Interruption
  /** The scheduled audit, which goes on between passes while nothing else is due. Null: there is none. */
  audit: ScheduledAudit | null
  queue: CommandQueue
  /** The loop publishes on the topics `passEnded`, `say` and `alive`, and listens to `pass`. */
  bus: Bus
  /** How often `alive` must be published where once a minute is too seldom. */
  aliveEveryMs?: number
}

/**
 * Decides when the next pass is due and what it scans. Between passes it carries out commands and goes on with the audit.
 */
export class Loop {
  readonly #options: LoopOptions
  readonly #stale: StaleFolders
  readonly #watchers = new Map<string, MirrorWatcher>()
  readonly #mayDelete = new Bell()
  /** When to scan again for a picture that is still being written, by the monotonic clock. */
  #lookAgainAt = Number.POSITIVE_INFINITY
  /** How long the last pass took. Work whose time came during the pass is due at once: see `dueMs`. */
  #passTookMs = 0

  constructor(options: LoopOptions) {
    this.#options = options
    this.#stale = new StaleFolders(options.clock)
  }

  /** What a command may ask of the loop, which waits while a command works. */
  readonly forCommands: Session['loop'] = {
    pass: async (options = {}) => {
      if (options.scope) for (const [mirror, folders] of options.scope) this.#stale.add(mirror, folders)
      else this.#lookAtEverything()
      for (;;) {
        const { report, paused } = await this.#pass(options)
        if (paused) await this.#options.queue.carryOut()
        this.#throwWhereEnded()
        if (!paused) return report
      }
    },
    othersWait: () => this.#options.queue.asked.aborted || this.#stale.any,
    giveWay: async () => {
      await this.#options.queue.carryOut()
      await this.#pass()
      this.#throwWhereEnded()
    },
  }

  #throwWhereEnded(): void {
    const { stop } = this.#options.interruption
    if (stop.aborted) throw stop.reason instanceof Refused ? stop.reason : ENDED
  }

  #hear(emitted: SpokenEvent): void {
    if (emitted.event === 'scan_finished') this.#watchers.get(emitted.mirror)?.follow()
    if (emitted.event === 'picture_uploaded') this.#stale.uploaded()
    if (emitted.event === 'picture_waits' && emitted.retry_in_ms !== undefined) {
      this.#lookAgainAt = Math.min(this.#lookAgainAt, this.#options.clock.monotonic() + emitted.retry_in_ms)
      this.#stale.wake()
    }
  }

  async run(): Promise<void> {
    const { config, synced, clock, bus, audit, queue, interruption } = this.#options
    const { stop } = interruption
    const ends = [
      bus.on('pass', emitted => this.#hear(emitted)),
      bus.on('doubtEnded', () => this.#mayDelete.ring()),
    ]
    const record = watchRecord(synced)
    const events = new EventQueue()
    const closed = new AbortController()
    for (const { folder: mirror } of config.mirrors)
      this.#watchers.set(
        mirror,
        openMirrorWatcher({
          mirror,
          synced,
          stale: this.#stale,
          queue: events,
          clock,
          say: bus.say,
          pollMs: config.watch?.poll ?? null,
          record: state => record(mirror, state),
        }),
      )
    const standstills = noticeStandstills(clock, () => this.#stoodStill(), closed.signal)
    this.#lookAtEverything()
    try {
      // Waits until the watches have begun, because each folder whose watch begins after its scan is scanned a second time.
      const begun = new AbortController()
      void Promise.all([...this.#watchers.values()].map(watcher => watcher.begun)).then(() => begun.abort())
      await clock.sleep(WATCH_FIRST_MS, AbortSignal.any([stop, begun.signal]))
      while (!stop.aborted) {
        bus.alive()
        await queue.carryOut()
        if (stop.aborted) break
        const { report, paused } = await this.#pass()
        if (paused) continue
        const rest = (ended: AbortSignal, mostMs = Number.POSITIVE_INFINITY) =>
          this.#rest(Math.min(this.#restMs(report), mostMs), ended, bus.alive)
        const mayAudit = audit !== null && pauseAt(synced, clock.wall()) === null
        if (mayAudit && audit.dueMs() <= 0 && (await audit.goOn(interruption, rest))) continue
        await rest(stop, mayAudit ? audit.dueMs() : undefined)
      }
    } finally {
      for (const watcher of this.#watchers.values()) await watcher.close()
      closed.abort()
      await standstills
      for (const end of ends) end()
    }
  }

  #stoodStill(): void {
    this.#options.bus.say('albumd stood still for some seconds, so it looks at all folders.')
    for (const watcher of this.#watchers.values()) watcher.distrust()
  }

  #lookAtEverything(): void {
    for (const folder of this.#watchers.keys()) this.#stale.add(folder, 'everything')
    this.#options.rescan.attended()
  }

  #restMs(report: PassReport): number {
    const lookAgainMs = this.#lookAgainAt - this.#options.clock.monotonic()
    return Math.max(0, Math.min(restMs(this.#options, report, this.#passTookMs), lookAgainMs))
  }

  /** Rests until a folder is stale, a command waits, deletions may go on, the wall clock jumps, `until` comes (it may change
   * meanwhile), or `mostMs` pass. Calls `alive` in time. Returns whether there is only a scan to do: a folder is stale or
   * `until` came. */
  async #rest(
    mostMs: number,
    stop: AbortSignal,
    alive: () => void = () => {},
    until = () => Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    const { clock, queue, aliveEveryMs = SLICE_MS } = this.#options
    const end = clock.monotonic() + mostMs
    const offset = clock.wall() - clock.monotonic()
    const called = AbortSignal.any([stop, queue.asked, this.#mayDelete.signal])
    while (!called.aborted) {
      alive()
      const now = clock.monotonic()
      if (now >= end) return false
      if (now >= until()) return true
      await this.#stale.wait(Math.min(end - now, until() - now, SLICE_MS, aliveEveryMs), called)
      if (Math.abs(clock.wall() - clock.monotonic() - offset) > JUMP_MS) return false
      if (this.#stale.any) return !called.aborted && clock.monotonic() < end
    }
    return false
  }

  /** Waits for at least `leastMs`, and until uploads must pause for other work. Meanwhile scans what becomes stale. No upload
   * begins during a scan, so after a scan as much time passes before the next one. */
  async #besideUploads(news: News, leastMs: number, ended: AbortSignal): Promise<void> {
    const { clock, queue } = this.#options
    const end = clock.monotonic() + leastMs
    const left = () => Math.max(0, end - clock.monotonic())
    const until = () => (news.scan ? this.#lookAgainAt : Number.POSITIVE_INFINITY)
    for (let freshMs = 0; ; ) {
      const leftMs = left()
      const mostMs = leftMs || dueMs(this.#options, freshMs)
      const hasNews = await this.#rest(mostMs, ended, () => {}, until)
      if (news.scan && hasNews) {
        const began = clock.monotonic()
        const scopes = this.#stale.take()
        this.#lookAgainAt = Number.POSITIVE_INFINITY
        await news.scan(({ folder }) => scopes.get(folder) ?? [])
        await clock.sleep(clock.monotonic() - began, AbortSignal.any([ended, queue.asked]))
        freshMs = clock.monotonic() - began
      } else if (leftMs === 0 || ended.aborted) return
      else await clock.sleep(left(), ended)
    }
  }

  /** Makes a pass. Returns whether it paused for other work; the next pass goes on with it. `asked`: a person's, or null. */
  async #pass(asked: PassOptions | null = null): Promise<{ report: PassReport; paused: boolean }> {
    const { engine, interruption, synced, clock, config, bus, queue, rescan } = this.#options
    if (rescan.at() <= clock.wall()) this.#lookAtEverything()
    const scopes = this.#stale.take()
    this.#lookAgainAt = Number.POSITIVE_INFINITY
    this.#mayDelete.heard()
    const began = clock.monotonic()
    // A pass that a person asked for ignores `uploads.hours`.
    const hours = asked ? undefined : config.uploads.hours
    const news: News = { scan: null, add: (mirror, folders) => this.#stale.add(mirror, folders) }
    const pauses = openPauses(
      clock,
      bus,
      hours,
      (leastMs, ended) => this.#besideUploads(news, leastMs, ended),
      async (leastMs, ended) => {
        await clock.sleep(leastMs, ended)
        await this.#rest(Number.POSITIVE_INFINITY, ended)
      },
    )
    try {
      const makeWay = queue.asked
      const pauseUploads = AbortSignal.any([pauses.uploads, makeWay])
      const report = await engine.pass(
        { ...interruption, pauseUploads, pauseDeletions: pauses.deletions, makeWay, news },
        ({ folder }) => scopes.get(folder) ?? [],
        asked ?? {},
      )
      const paused = makeWay.aborted || pauses.hasPaused()
      if (!paused) bus.publish('passEnded', synced)
      return { report, paused }
    } finally {
      await pauses.end()
      this.#passTookMs = clock.monotonic() - began
    }
  }
}

/** When the wall clock moves by more than this against the monotonic clock, work that depends on it is due. */
const JUMP_MS = 30_000
/** The longest time that the first scan waits for the watches, which take minutes on a slow disk. */
const WATCH_FIRST_MS = 3000
/** The shortest time for which uploads or deletions go on before they pause for other work. */
const LEAST_MS = 5000
const DELETING: ReadonlySet<SpokenEvent['event']> = new Set(['image_deleted', 'image_kept', 'album_deleted'])

/** Waits until the work of a pass must pause, but for `leastMs` at least. Ends when `ended` is aborted. */
type Rest = (leastMs: number, ended: AbortSignal) => Promise<void>

/** Pauses uploads and deletions of a pass when other work is due, because a backlog may take hours. Each goes on for at least as
 * long as the scans took: otherwise albumd would only scan a tree that changes all the time. `hours`: undefined where uploads
 * always go. */
function openPauses(
  clock: Clock,
  bus: Bus,
  hours: Config['uploads']['hours'],
  besideUploads: Rest,
  besideDeletions: Rest,
) {
  const began = clock.monotonic()
  const areHoursOpen = hours === undefined || isOpen(hours, clock.wall())
  const uploads = new AbortController()
  const deletions = new AbortController()
  const ended = new AbortController()
  const waiting: Promise<void>[] = []
  let haveDeletionsBegun = false
  /** How long the scans before the first uploads took. Scans beside uploads do not count. Null: no uploads have begun. */
  let scansMs: number | null = null

  async function pauseAfter(paused: AbortController, rest: Promise<void>): Promise<void> {
    await rest
    if (!ended.signal.aborted) paused.abort()
  }

  function hear(event: SpokenEvent['event']): void {
    const soFarMs = clock.monotonic() - began
    if (event === 'uploads_started' && scansMs === null) {
      scansMs = soFarMs
      waiting.push(pauseAfter(uploads, besideUploads(Math.max(LEAST_MS, soFarMs), ended.signal)))
      const border = hours && nextBorder(hours, clock.wall())
      // The pause begins when `uploads.hours` end. Uploads under way are finished.
      if (border !== undefined) waiting.push(pauseAfter(uploads, sleepUntil(border, clock, ended.signal)))
    }
    if (DELETING.has(event) && !haveDeletionsBegun) {
      haveDeletionsBegun = true
      waiting.push(
        pauseAfter(deletions, besideDeletions(Math.max(LEAST_MS, scansMs ?? soFarMs), ended.signal)),
      )
    }
  }

  if (!areHoursOpen) uploads.abort()
  const unsubscribe = bus.on('pass', ({ event }) => hear(event))
  return {
    uploads: uploads.signal,
    deletions: deletions.signal,
    /** Whether the pass paused for other work. Outside `uploads.hours` no upload begins, which is no pause. */
    hasPaused: () => deletions.signal.aborted || (areHoursOpen && uploads.signal.aborted),
    async end(): Promise<void> {
      unsubscribe()
      ended.abort()
      await Promise.all(waiting)
    },
  }
}
