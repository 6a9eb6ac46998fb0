import { STAMP_GRAIN } from '../local/look.ts'
import type { Moment } from '../records/escrow.ts'
import type { Synced } from '../synced/synced.ts'

/** Time as a parameter, so that the simulation can play years in seconds. */
export interface Clock {
  /** Milliseconds since 1970 by the system's clock. Somebody may set this clock. */
  wall(): number
  /** Milliseconds since the machine started. This clock never jumps, and all processes of one boot share it. */
  monotonic(): number
  /** Resolves after `ms`, or at once when `signal` is aborted. Never rejects. */
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

/** By how many milliseconds the clocks' difference may change before the wall clock counts as set. */
const DRIFT_MS = 250

/** Tells how long files have been left alone. After the clock was set forward, a young file must not seem old. */
export class FileAges {
  /** The clocks' difference when it was last read. Null: it was never read. */
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

/** Begins with the clocks' difference that the process before has recorded. */
export function fileAges({ meta }: Pick<Synced, 'meta'>): FileAges {
  return new FileAges(meta.get('clock_offset'))
}

/** The clocks' difference in milliseconds, for the records. */
export function clockOffset(clock: Clock): number {
  return Math.round(clock.wall() - clock.monotonic())
}

/**
 * For how many milliseconds a request that was sent may still be served: the life of an upload's credential (§8), and a
 * margin for the host's clock and for a proxy that holds requests back.
 */
export function mayArriveFor(credentialLifetimeMs: number): number {
  return credentialLifetimeMs * 1.2 + 1000
}
