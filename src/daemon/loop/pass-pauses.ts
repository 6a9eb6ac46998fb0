import type { Clock } from '../../sync/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import { Background } from '../background.ts'
import type { StaleFolders } from '../watch/stale-folders.ts'
import { type Hours, isOpen, nextBorder } from './limits.ts'
import { sleepUntil } from './rest.ts'

/** How long uploads, and deletions, go on at least before they pause for a scan. */
const UPLOADS_MS = 5000
const DELETIONS_MS = 5000
/** The events of deletions, whether done or refused. */
const DELETING: ReadonlySet<SpokenEvent['event']> = new Set(['image_deleted', 'image_kept', 'album_deleted'])
/** How often deletions look whether a folder is stale. */
const STALE_MS = 1000

interface PassPausesParts {
  clock: Clock
  stale: Pick<StaleFolders, 'any'>
  /** `uploads.hours`. Undefined: uploads go at any time. */
  hours: Hours | undefined
  /** Rests until a folder is stale or something is due. */
  restUntilDue: (ended: AbortSignal) => Promise<void>
}

/**
 * Pauses the uploads and deletions of one pass when something else is due, because a backlog may take hours. The next
 * pass goes on with them. Both get at least as much time as the scans before them took: otherwise a tree that changes all
 * the time would only be scanned.
 */
export class PassPauses {
  readonly #parts: PassPausesParts
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

  constructor(parts: PassPausesParts) {
    const { clock, hours } = parts
    this.#parts = parts
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
    const { hours, clock } = this.#parts
    const now = clock.monotonic()
    if (event === 'scan_started') this.#scanBegan = now
    if (event === 'scan_finished') this.#scansMs += now - this.#scanBegan
    if (event === 'uploads_started' && !this.#haveUploadsBegun) {
      this.#haveUploadsBegun = true
      this.#background.run(ended => this.#pauseUploadsInTime(now - this.#began, ended))
      if (hours) this.#background.run(ended => this.#pauseAtBorder(hours, ended))
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
    const { clock, restUntilDue } = this.#parts
    await clock.sleep(Math.max(UPLOADS_MS, scansMs), ended)
    if (!ended.aborted) await restUntilDue(ended)
    if (!ended.aborted) this.#uploads.abort()
  }

  async #pauseDeletionsInTime(ended: AbortSignal): Promise<void> {
    const { clock, stale } = this.#parts
    await clock.sleep(Math.max(DELETIONS_MS, this.#scansMs), ended)
    while (!ended.aborted && !stale.any) await clock.sleep(STALE_MS, ended)
    if (!ended.aborted) this.#deletions.abort()
  }

  /** Pauses the uploads when `uploads.hours` end. Uploads under way are finished. */
  async #pauseAtBorder(hours: Hours, ended: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    await sleepUntil(nextBorder(hours, clock.wall()), clock, ended)
    if (!ended.aborted) this.#uploads.abort()
  }
}
