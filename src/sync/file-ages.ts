import { STAMP_GRAIN } from '../local/look.ts'
import type { Synced } from '../synced/synced.ts'
import type { Clock } from './clock.ts'

/** How far the two clocks may drift apart between two looks before one of them counts as set, in milliseconds. */
const DRIFT_MS = 250

/** How long files have been left alone. A clock that was just set forward would make a young one look old. */
export class FileAges {
  /** Between the clocks, when they were last looked at; null where nothing is known from before. */
  #offset: number | null
  #setAt: number | null = null

  constructor(offset: number | null) {
    this.#offset = offset
  }

  /** Milliseconds since `ctime` (microseconds since 1970): at most the time since the clock was found set. */
  since(ctime: number, clock: Clock): number {
    const now = clock.monotonic()
    const offset = clock.wall() - now
    if (this.#offset === null || Math.abs(offset - this.#offset) > DRIFT_MS) this.#setAt = now
    this.#offset = offset
    const trusted = this.#setAt === null ? Number.POSITIVE_INFINITY : now - this.#setAt
    // A clock that was set back makes files from the future.
    // Whole seconds are the stamps of file systems that know no parts of them: it may be younger than they say.
    const grain = ctime % 1_000_000 === 0 ? STAMP_GRAIN : 0
    return Math.max(0, Math.min(clock.wall() - (ctime + grain) / 1000, trusted))
  }
}

/** As the process before left the clocks. */
export function fileAges({ meta }: Pick<Synced, 'meta'>): FileAges {
  const offset = meta.get('clock_offset')
  return new FileAges(offset === null ? null : Number(offset))
}

/** What the next process needs to know of the clocks, in milliseconds. */
export function clockOffset(clock: Clock): number {
  return Math.round(clock.wall() - clock.monotonic())
}
