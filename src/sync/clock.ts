import { STAMP_GRAIN } from '../local/look.ts'
import type { Moment } from '../records/escrow.ts'
import type { Synced } from '../synced/synced.ts'

/** Time as a parameter, so that a simulation can run years of it. */
export interface Clock {
  /** Milliseconds since 1970, as the system's clock has them: it may jump. */
  wall(): number
  /** Milliseconds since the machine started: it never jumps, and all processes of one boot share it. */
  monotonic(): number
  /** Ends early, without an error, when `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  sleep: (ms, signal) =>
    new Promise(resolve => {
      if (signal.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal.addEventListener('abort', end)
    }),
}

/** The moment at which something is recorded. */
export function momentOf({
  clock,
  running,
  graceMs,
}: {
  clock: Pick<Clock, 'wall'>
  running: () => number
  graceMs: number
}): Moment {
  return { now: clock.wall(), running: running(), graceMs }
}

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

/**
 * How long after it was opened an upload may still arrive, in milliseconds: its credential's life (§8), and a margin
 * for the host's clock and for a proxy that holds a request back.
 */
export function mayArriveFor(credentialLifetimeMs: number): number {
  return credentialLifetimeMs * 1.2 + 1000
}
