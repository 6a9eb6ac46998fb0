import type { Config } from '../config/schema.ts'
import type { Clock } from '../sync/clock.ts'
import { mayArriveFor } from '../sync/credential-life.ts'
import type { Interruption } from '../sync/interruption.ts'
import type { PassReport } from '../sync/pass.ts'
import type { PassEvent } from '../sync/pass-events.ts'
import type { Synced } from '../synced/synced.ts'
import { type MirrorWatcher, openMirrorWatcher } from './mirror-watcher.ts'
import type { Mirroring } from './mirroring.ts'
import { StaleFolders } from './stale-folders.ts'

export interface DaemonParts {
  config: Pick<Config, 'mirrors'>
  synced: Synced
  clock: Clock
  /** Running time in milliseconds. */
  running: () => number
  /** How long a credential may be used (§8), in milliseconds. */
  credentialLifetimeMs: number
  /** A pass has come to its end, all of its uploads tried. */
  onPass: () => void
  /** Something that a person should know. */
  say: (line: string) => void
}

/** How often what is left, and a root in doubt, is tried again. */
const RETRY_MS = 60_000
/** How often everything is looked at, whatever the watcher said. */
const RESCAN_MS = 6 * 3_600_000
/** For so long at least uploads go on before they pause for a look. */
const UPLOADS_MS = 5000

/** Keeps the mirrors mirrored: all of them first, then every folder that is said to be stale. */
export class Daemon {
  readonly #parts: DaemonParts
  readonly #stale = new StaleFolders()
  readonly #watchers = new Map<string, MirrorWatcher>()
  #rescanAt = 0
  #uploadsBegin: () => void = () => {}

  constructor(parts: DaemonParts) {
    this.#parts = parts
  }

  /** Hears what the passes tell. */
  hear(told: PassEvent): void {
    if (told.event === 'scan_finished') this.#watchers.get(told.mirror)?.follow(this.#parts.synced)
    if (told.event === 'uploads_started') this.#uploadsBegin()
  }

  /** Runs until interrupted. */
  async run(mirroring: Pick<Mirroring, 'pass'>, interruption: Interruption): Promise<void> {
    const { config, clock, say, onPass } = this.#parts
    const { stop } = interruption
    for (const { folder } of config.mirrors)
      this.#watchers.set(folder, openMirrorWatcher(folder, this.#stale, say))
    this.#rescanAt = clock.monotonic()
    try {
      while (!stop.aborted) {
        if (clock.monotonic() >= this.#rescanAt) this.#lookAtEverything()
        const { report, paused } = await this.#pass(mirroring, interruption)
        if (paused) continue
        onPass()
        await this.#stale.wait(this.#waitMs(report), clock, stop)
      }
    } finally {
      for (const watcher of this.#watchers.values()) await watcher.close()
    }
  }

  #lookAtEverything(): void {
    for (const [folder, watcher] of this.#watchers) {
      this.#stale.add(folder, { everything: true })
      watcher.tryLostAgain()
    }
    this.#rescanAt = this.#parts.clock.monotonic() + RESCAN_MS
  }

  /** One pass. Its uploads pause where something else is to be done; the next pass goes on with them. */
  async #pass(
    mirroring: Pick<Mirroring, 'pass'>,
    interruption: Interruption,
  ): Promise<{ report: PassReport; paused: boolean }> {
    const { clock } = this.#parts
    const scopes = this.#stale.take()
    const began = clock.monotonic()
    const pause = new AbortController()
    const ended = new AbortController()
    let pausing: Promise<void> | null = null
    this.#uploadsBegin = () => {
      pausing ??= this.#pauseInTime(pause, clock.monotonic() - began, ended.signal)
    }
    try {
      const report = await mirroring.pass(
        { ...interruption, pauseUploads: pause.signal },
        ({ folder }) => scopes.get(folder) ?? [],
      )
      return { report, paused: pause.signal.aborted }
    } finally {
      ended.abort()
      await pausing
    }
  }

  /**
   * A backlog takes hours: pauses its uploads once a folder is stale, a deletion is due, or everything is to be looked
   * at. They have as much time as the scans before them took, so that neither starves the other.
   */
  async #pauseInTime(pause: AbortController, scansMs: number, ended: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    await clock.sleep(Math.max(UPLOADS_MS, scansMs), ended)
    if (!ended.aborted) await this.#stale.wait(Math.min(...this.#dueMs()), clock, ended)
    if (!ended.aborted) pause.abort()
  }

  /** How long the loop may sleep where no event comes. */
  #waitMs({ stopped }: PassReport): number {
    const { config, synced } = this.#parts
    const waiting = config.mirrors.some(({ folder }) => {
      const row = synced.mirrors.of(folder)
      return row !== undefined && (row.guard !== null || synced.files.anyPending([row.id]))
    })
    return Math.min(...this.#dueMs(), ...(waiting || stopped.length > 0 ? [RETRY_MS] : []))
  }

  /** In how many milliseconds each next thing is due. */
  #dueMs(): number[] {
    const { config, synced, clock, running, credentialLifetimeMs } = this.#parts
    const longAgo = mayArriveFor(credentialLifetimeMs) + 1
    const inDoubt = synced.journal.oldestInDoubt()
    const emptied = synced.emptied.oldest()
    const mirrors = config.mirrors.flatMap(({ folder }) => synced.mirrors.of(folder)?.id ?? [])
    const due = [
      { at: synced.escrow.nextDue(mirrors), now: running() },
      { at: synced.failures.nextDue(), now: clock.wall() },
      // What can't arrive any more can be found out.
      { at: inDoubt === null ? null : inDoubt + longAgo, now: clock.monotonic() },
      // An album that was empty is looked at once more.
      { at: emptied === null ? null : emptied + longAgo, now: clock.monotonic() },
    ]
    return [
      this.#rescanAt - clock.monotonic(),
      // What is due and can't be done must not turn the loop without end.
      ...due.flatMap(({ at, now }) => (at === null ? [] : [at > now ? at - now : RETRY_MS])),
    ]
  }
}
