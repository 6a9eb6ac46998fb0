import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Interruption, PassReport } from '../../sync/pass-request.ts'
import { Background, Bell } from '../background.ts'
import { CommandQueue, type PassNeeds } from '../commands/queue.ts'
import type { Engine } from '../engine/engine.ts'
import type { Bus } from '../events.ts'
import { type Hours, isOpen, nextBorder } from '../report/upload-hours.ts'
import { pauseAt } from '../state/pause.ts'
import { type MirrorWatcher, openMirrorWatcher } from '../watch/mirror-watcher.ts'
import { StaleFolders } from '../watch/stale-folders.ts'
import { WatchRecord } from '../watch/watching.ts'
import { type DueOptions, dueMs, restMs, SLICE_MS, sleepUntil } from './rest.ts'
import type { Recurring, ScheduledAudit } from './schedule.ts'

export interface LoopOptions extends DueOptions {
  config: Pick<Config, 'mirrors' | 'uploads'> & { watch?: Pick<Config['watch'], 'poll'> }
  /** When everything is scanned, whether or not the watcher saw a change. */
  rescan: Recurring
  /** The scheduled audit. It goes on between passes while nothing else is due. Null: there is none. */
  audit: Pick<ScheduledAudit, 'start' | 'isDue' | 'goOn' | 'stop'> | null
  /** The commands that people give while it runs. */
  queue?: CommandQueue
  /** The loop uses its topics `pass`, `passEnded`, `say` and `alive`. */
  bus: Bus
  /** How often `alive` must be published at least, where once a minute is too seldom. */
  aliveEveryMs?: number
}

/**
 * Decides when the next pass is due, and what it scans: everything at first, then the folders that the watchers call
 * stale. Between passes it carries out commands and goes on with the scheduled audit.
 */
export class Loop {
  readonly #options: LoopOptions
  readonly #stale = new StaleFolders()
  readonly #bell = new Bell()
  readonly #queue: CommandQueue
  readonly #watchers = new Map<string, MirrorWatcher>()
  /** The pauses of the pass under way. Null: no pass is under way. */
  #pauses: PassPauses | null = null
  /** When a picture that is still being written is looked at again, by the monotonic clock. */
  #lookAgainAt = Number.POSITIVE_INFINITY
  /** How long the last pass took. What came due meanwhile is due at once: see `dueMs`. */
  #passTookMs = 0

  constructor(options: LoopOptions) {
    this.#options = options
    this.#queue = options.queue ?? new CommandQueue()
  }

  #hear(told: SpokenEvent): void {
    this.#pauses?.hear(told)
    if (told.event === 'scan_finished') this.#watchers.get(told.mirror)?.follow()
    if (told.event === 'picture_waits' && told.retry_in_ms !== undefined)
      this.#lookAgainAt = Math.min(this.#lookAgainAt, this.#options.clock.monotonic() + told.retry_in_ms)
  }

  /** Runs until interrupted. */
  async run(engine: Pick<Engine, 'pass'>, interruption: Interruption): Promise<void> {
    const { config, synced, clock, bus, rescan, audit } = this.#options
    const alive = () => bus.alive()
    const unsubscribe = bus.on('pass', told => this.#hear(told))
    const { stop } = interruption
    const record = new WatchRecord(synced)
    for (const { folder: mirror } of config.mirrors)
      this.#watchers.set(
        mirror,
        openMirrorWatcher({
          mirror,
          synced,
          stale: this.#stale,
          clock,
          say: bus.say,
          pollMs: config.watch?.poll ?? null,
          record: state => record.set(mirror, state),
        }),
      )
    const ring = () => this.#bell.ring()
    rescan.start(ring)
    audit?.start(ring)
    const queue = this.#queue
    queue.onAsked = ring
    queue.isBusy = () => this.#stale.any
    this.#lookAtEverything()
    try {
      while (!stop.aborted) {
        alive()
        this.#bell.heard()
        await queue.carryOut()
        if (stop.aborted) break
        const needs = queue.needs()
        if (rescan.isDue() || needs.everything) this.#lookAtEverything()
        const { report, paused } = await this.#pass(engine, interruption, needs)
        if (!stop.aborted) await queue.passed(report, !paused)
        if (paused) continue
        bus.publish('passEnded', synced)
        // A command that gave way may go on by asking for a pass. No event would wake the loop for that pass.
        if (queue.awaitPass) continue
        const audits = audit?.isDue() === true && pauseAt(synced, clock.wall()) === null
        if (audits && (await this.#audit(audit, report, interruption))) continue
        await this.#rest(this.#restMs(report), stop, alive)
      }
    } finally {
      rescan.stop()
      audit?.stop()
      for (const watcher of this.#watchers.values()) await watcher.close()
      unsubscribe()
    }
  }

  #lookAtEverything(): void {
    for (const folder of this.#watchers.keys()) this.#stale.add(folder, { everything: true })
    this.#options.rescan.attended()
  }

  #restMs(report: PassReport): number {
    const lookAgainMs = this.#lookAgainAt - this.#options.clock.monotonic()
    return Math.max(0, Math.min(restMs(this.#options, report, this.#passTookMs), lookAgainMs))
  }

  /**
   * Rests until a folder is stale, the bell rings, the wall clock has jumped, or `mostMs` have passed. `alive` is called
   * at least once a minute, or as often as `aliveEveryMs` says.
   */
  async #rest(mostMs: number, stop: AbortSignal, alive: () => void = () => {}): Promise<void> {
    const { clock, aliveEveryMs = SLICE_MS } = this.#options
    const end = clock.monotonic() + mostMs
    const offset = clock.wall() - clock.monotonic()
    const called = AbortSignal.any([stop, this.#bell.signal])
    while (!called.aborted) {
      alive()
      const left = end - clock.monotonic()
      if (left <= 0) return
      await this.#stale.wait(Math.min(left, SLICE_MS, aliveEveryMs), clock, called)
      if (this.#stale.any || Math.abs(clock.wall() - clock.monotonic() - offset) > JUMP_MS) return
    }
  }

  /**
   * One pass. Its uploads and deletions pause when something else is due, and the next pass goes on with them. Answers
   * whether it paused.
   */
  async #pass(
    engine: Pick<Engine, 'pass'>,
    interruption: Interruption,
    { asked, options }: PassNeeds,
  ): Promise<{ report: PassReport; paused: boolean }> {
    const { clock, config } = this.#options
    const scopes = this.#stale.take()
    this.#lookAgainAt = Number.POSITIVE_INFINITY
    const began = clock.monotonic()
    // `uploads.hours` does not hold for a pass that a person asked for.
    const hours = asked ? undefined : config.uploads.hours
    const restUntilDue = (ended: AbortSignal) => this.#rest(dueMs(this.#options), ended)
    const pauses = new PassPauses(clock, this.#stale, hours, restUntilDue)
    this.#pauses = pauses
    try {
      const makeWay = this.#queue.asked
      const pauseUploads = AbortSignal.any([pauses.uploads, makeWay])
      const report = await engine.pass(
        { ...interruption, pauseUploads, pauseDeletions: pauses.deletions, makeWay },
        ({ folder }) => scopes.get(folder) ?? [],
        options,
      )
      return { report, paused: makeWay.aborted || pauses.paused }
    } finally {
      this.#pauses = null
      await pauses.end()
      this.#passTookMs = clock.monotonic() - began
    }
  }

  /** Goes on with the audit until it ends or something else is due. Answers whether something else is due. */
  async #audit(
    audit: Pick<ScheduledAudit, 'goOn'>,
    report: PassReport,
    interruption: Interruption,
  ): Promise<boolean> {
    const elsewhere = new AbortController()
    const background = new Background()
    background.run(async ended => {
      const stop = AbortSignal.any([interruption.stop, ended])
      await this.#rest(this.#restMs(report), stop, () => this.#options.bus.alive())
      elsewhere.abort()
    })
    try {
      await audit.goOn(interruption, elsewhere.signal)
      return elsewhere.signal.aborted
    } finally {
      await background.end()
    }
  }
}

/** When the wall clock has moved by more than this against the monotonic one, what depends on the wall clock is due. */
const JUMP_MS = 30_000
/** How long uploads, and deletions, go on at least before they pause for a scan. */
const UPLOADS_MS = 5000
const DELETIONS_MS = 5000
/** The events of deletions, whether done or refused. */
const DELETING: ReadonlySet<SpokenEvent['event']> = new Set(['image_deleted', 'image_kept', 'album_deleted'])
/** How often deletions look whether a folder is stale. */
const STALE_MS = 1000

/**
 * Pauses the uploads and deletions of one pass when something else is due, because a backlog may take hours. The next
 * pass goes on with them. Both get at least as much time as the scans before them took: otherwise a tree that changes all
 * the time would only be scanned.
 */
class PassPauses {
  readonly #clock: Clock
  readonly #stale: StaleFolders
  readonly #hours: Hours | undefined
  readonly #restUntilDue: (ended: AbortSignal) => Promise<void>
  readonly #began: number
  readonly #areHoursOpen: boolean
  readonly #uploads = new AbortController()
  readonly #deletions = new AbortController()
  readonly #background = new Background()
  #haveUploadsBegun = false
  #haveDeletionsBegun = false
  /** How long the scans of this pass took, and when the last of them began. */
  #scansMs = 0
  #scanBegan = 0

  /** `hours`: undefined where uploads go at any time. `restUntilDue` rests until a folder is stale or something is due. */
  constructor(
    clock: Clock,
    stale: StaleFolders,
    hours: Hours | undefined,
    restUntilDue: (ended: AbortSignal) => Promise<void>,
  ) {
    this.#clock = clock
    this.#stale = stale
    this.#hours = hours
    this.#restUntilDue = restUntilDue
    this.#began = clock.monotonic()
    this.#areHoursOpen = hours === undefined || isOpen(hours, clock.wall())
    if (!this.#areHoursOpen) this.#uploads.abort()
  }

  get uploads(): AbortSignal {
    return this.#uploads.signal
  }

  get deletions(): AbortSignal {
    return this.#deletions.signal
  }

  /** Whether the pass paused for other work. */
  get paused(): boolean {
    return this.deletions.aborted || (this.#areHoursOpen && this.uploads.aborted)
  }

  hear({ event }: SpokenEvent): void {
    const now = this.#clock.monotonic()
    if (event === 'scan_started') this.#scanBegan = now
    if (event === 'scan_finished') this.#scansMs += now - this.#scanBegan
    if (event === 'uploads_started' && !this.#haveUploadsBegun) {
      this.#haveUploadsBegun = true
      this.#background.run(ended => this.#pauseUploadsInTime(now - this.#began, ended))
      this.#background.run(ended => this.#pauseAtBorder(ended))
    }
    if (DELETING.has(event) && !this.#haveDeletionsBegun) {
      this.#haveDeletionsBegun = true
      this.#background.run(ended => this.#pauseDeletionsInTime(ended))
    }
  }

  /** The pass has ended. */
  end(): Promise<void> {
    return this.#background.end()
  }

  async #pauseUploadsInTime(scansMs: number, ended: AbortSignal): Promise<void> {
    await this.#clock.sleep(Math.max(UPLOADS_MS, scansMs), ended)
    if (!ended.aborted) await this.#restUntilDue(ended)
    if (!ended.aborted) this.#uploads.abort()
  }

  async #pauseDeletionsInTime(ended: AbortSignal): Promise<void> {
    await this.#clock.sleep(Math.max(DELETIONS_MS, this.#scansMs), ended)
    while (!ended.aborted && !this.#stale.any) await this.#clock.sleep(STALE_MS, ended)
    if (!ended.aborted) this.#deletions.abort()
  }

  /** Pauses the uploads when `uploads.hours` end. Uploads under way are finished. */
  async #pauseAtBorder(ended: AbortSignal): Promise<void> {
    if (!this.#hours) return
    await sleepUntil(nextBorder(this.#hours, this.#clock.wall()), this.#clock, ended)
    if (!ended.aborted) this.#uploads.abort()
  }
}
