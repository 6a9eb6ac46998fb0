import { STAMP_GRAIN } from '../local/look.ts'
import type { Synced } from '../synced/synced.ts'
import type { Clock } from './clock.ts'

/** How far the two clocks may drift apart between two looks before one of them counts as set, in milliseconds. */
const DRIFT_MS = 250

/** How long files have been left alone. When the clock was just set forward, a young file would seem old. */
export class FileAges {
  /** The difference of the two clocks when it was last read. Null: nothing is known from before. */
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
    // When the clock was set back, a file's last change may lie in the future. On a file system whose timestamps are whole
    // seconds, the change may be up to a second younger than its timestamp.
    const grain = ctime % 1_000_000 === 0 ? STAMP_GRAIN : 0
    return Math.max(0, Math.min(clock.wall() - (ctime + grain) / 1000, trusted))
  }
}

/** Begins with the difference of the clocks that the process before recorded. */
export function fileAges({ meta }: Pick<Synced, 'meta'>): FileAges {
  return new FileAges(meta.get('clock_offset'))
}

/** The difference of the two clocks, for the next process, in milliseconds. */
export function clockOffset(clock: Clock): number {
  return Math.round(clock.wall() - clock.monotonic())
}
