import type { Config } from '../../config/schema.ts'
import type { Interruption } from '../../sync/interruption.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { PassReport } from '../../sync/pass-request.ts'
import { CommandQueue, type PassNeeds } from '../commands/queue.ts'
import type { Bus } from '../events.ts'
import { pauseAt } from '../state/pause.ts'
import { type MirrorWatcher, openMirrorWatcher } from '../watch/mirror-watcher.ts'
import { StaleFolders } from '../watch/stale-folders.ts'
import { WatchRecord } from '../watch/watching.ts'
import { isOpen, nextBorder } from './limits.ts'
import type { Mirroring } from './mirroring.ts'
import { Bell, type DueParts, dueMs, rest, restMs, sleepUntil } from './rest.ts'
import type { Recurring, ScheduledAudit } from './schedule.ts'

export interface LoopOptions extends DueParts {
  config: Pick<Config, 'mirrors' | 'uploads'> & { watch?: Pick<Config['watch'], 'poll'> }
  /** When everything is scanned, whether or not the watcher saw a change. */
  rescan: Recurring
  /** The scheduled audit. It goes on between passes while nothing else is due. Null: there is none. */
  audit: Pick<ScheduledAudit, 'start' | 'isDue' | 'goOn' | 'stop'> | null
  /** The commands that people give while it runs. */
  queue?: CommandQueue
  /** Topics `pass`, `passEnded`, `say` and `alive`. */
  bus: Bus
  /** How often `alive` must be published at least, where once a minute is too seldom. */
  aliveEveryMs?: number
}

/** How long uploads, and deletions, go on at least before they pause for a scan. */
const UPLOADS_MS = 5000
const DELETIONS_MS = 5000
/** The events of deletions, whether done or refused. */
const DELETING: ReadonlySet<SpokenEvent['event']> = new Set(['image_deleted', 'image_kept', 'album_deleted'])
/** How often the loop looks whether deletions must pause. */
const NEWS_MS = 1000

/**
 * Decides when the next pass is due, and what it scans: everything at first, then the folders that the watchers call
 * stale. Between passes it carries out commands and goes on with the scheduled audit.
 */
export class Loop {
  readonly #parts: LoopOptions
  readonly #stale = new StaleFolders()
  readonly #bell = new Bell()
  readonly #queue: CommandQueue
  readonly #watchers = new Map<string, MirrorWatcher>()
  #uploadsBegin: () => void = () => {}
  #deletionsBegin: () => void = () => {}
  /** How long the scans of this pass took, and when the last of them began. */
  #scansMs = 0
  #scanBegan = 0
  /** When a picture that is still being written is looked at again, by the monotonic clock. */
  #lookAgainAt = Number.POSITIVE_INFINITY
  /** How long the last pass took. What came due meanwhile is due at once: see `dueMs`. */
  #passTookMs = 0

  constructor(parts: LoopOptions) {
    this.#parts = parts
    this.#queue = parts.queue ?? new CommandQueue()
  }

  #hear(told: SpokenEvent): void {
    const now = this.#parts.clock.monotonic()
    if (told.event === 'scan_started') this.#scanBegan = now
    if (told.event === 'scan_finished') {
      this.#scansMs += now - this.#scanBegan
      this.#watchers.get(told.mirror)?.follow()
    }
    if (told.event === 'uploads_started') this.#uploadsBegin()
    if (DELETING.has(told.event)) this.#deletionsBegin()
    if (told.event === 'picture_waits' && told.retry_in_ms !== undefined)
      this.#lookAgainAt = Math.min(this.#lookAgainAt, now + told.retry_in_ms)
  }

  /** Runs until interrupted. */
  async run(mirroring: Pick<Mirroring, 'pass'>, interruption: Interruption): Promise<void> {
    const { config, synced, clock, bus, rescan, audit } = this.#parts
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
        const { report, paused } = await this.#pass(mirroring, interruption, needs)
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
    this.#parts.rescan.attended()
  }

  #restMs(report: PassReport): number {
    const lookAgainMs = this.#lookAgainAt - this.#parts.clock.monotonic()
    return Math.max(0, Math.min(restMs(this.#parts, report, this.#passTookMs), lookAgainMs))
  }

  #rest(mostMs: number, stop: AbortSignal, alive?: () => void): Promise<void> {
    const { clock, aliveEveryMs } = this.#parts
    return rest({ stale: this.#stale, bell: this.#bell, clock, aliveEveryMs }, mostMs, stop, alive)
  }

  /**
   * One pass. Its uploads and deletions pause when something else is due, and the next pass goes on with them. Answers
   * whether it paused.
   */
  async #pass(
    mirroring: Pick<Mirroring, 'pass'>,
    interruption: Interruption,
    { asked, options }: PassNeeds,
  ): Promise<{ report: PassReport; paused: boolean }> {
    const { clock, config } = this.#parts
    const { hours } = config.uploads
    const uploadsGo = asked || hours === undefined || isOpen(hours, clock.wall())
    const scopes = this.#stale.take()
    this.#lookAgainAt = Number.POSITIVE_INFINITY
    const began = clock.monotonic()
    const pause = new AbortController()
    const ended = new AbortController()
    const pauseDeletions = new AbortController()
    let pausing: Promise<unknown> | null = null
    let giving: Promise<void> | null = null
    this.#scansMs = 0
    if (!uploadsGo) pause.abort()
    this.#uploadsBegin = () => {
      const scansMs = clock.monotonic() - began
      pausing ??= Promise.all([
        this.#pauseInTime(pause, scansMs, ended.signal),
        // `uploads.hours` does not hold for a pass that a person asked for.
        asked ? null : this.#pauseAtBorder(pause, ended.signal),
      ])
    }
    this.#deletionsBegin = () => {
      giving ??= this.#pauseDeletionsInTime(pauseDeletions, ended.signal)
    }
    try {
      const makeWay = this.#queue.asked
      const pauseUploads = AbortSignal.any([pause.signal, makeWay])
      const report = await mirroring.pass(
        { ...interruption, pauseUploads, pauseDeletions: pauseDeletions.signal, makeWay },
        ({ folder }) => scopes.get(folder) ?? [],
        options,
      )
      const pausedForNews = pauseDeletions.signal.aborted || (uploadsGo && pause.signal.aborted)
      return { report, paused: makeWay.aborted || pausedForNews }
    } finally {
      ended.abort()
      await pausing
      await giving
      this.#passTookMs = clock.monotonic() - began
    }
  }

  /**
   * Pauses the uploads once a folder is stale or something is due, because a backlog may take hours. The uploads get at
   * least as much time as the scans before them took: otherwise a tree that changes all the time would only be scanned.
   */
  async #pauseInTime(pause: AbortController, scansMs: number, ended: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    await clock.sleep(Math.max(UPLOADS_MS, scansMs), ended)
    if (!ended.aborted) await this.#rest(dueMs(this.#parts), ended)
    if (!ended.aborted) pause.abort()
  }

  /** Pauses the deletions once a folder is stale. They get at least as much time as the scans before them took. */
  async #pauseDeletionsInTime(pause: AbortController, ended: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    await clock.sleep(Math.max(DELETIONS_MS, this.#scansMs), ended)
    while (!ended.aborted && !this.#stale.any) await clock.sleep(NEWS_MS, ended)
    if (!ended.aborted) pause.abort()
  }

  /** Pauses the uploads when `uploads.hours` end. Uploads under way are finished. */
  async #pauseAtBorder(pause: AbortController, ended: AbortSignal): Promise<void> {
    const { clock, config } = this.#parts
    const { hours } = config.uploads
    if (hours === undefined) return
    await sleepUntil(nextBorder(hours, clock.wall()), clock, ended)
    if (!ended.aborted) pause.abort()
  }

  /** Goes on with the audit until it ends or something else is due. Answers whether something else is due. */
  async #audit(
    audit: Pick<ScheduledAudit, 'goOn'>,
    report: PassReport,
    interruption: Interruption,
  ): Promise<boolean> {
    const elsewhere = new AbortController()
    const ended = new AbortController()
    const resting = this.#rest(this.#restMs(report), AbortSignal.any([interruption.stop, ended.signal]), () =>
      this.#parts.bus.alive(),
    ).then(() => elsewhere.abort())
    try {
      await audit.goOn(interruption, elsewhere.signal)
      return elsewhere.signal.aborted
    } finally {
      ended.abort()
      await resting
    }
  }
}
