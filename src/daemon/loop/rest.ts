import type { Clock } from '../../sync/clock.ts'
import type { StaleFolders } from '../watch/stale-folders.ts'

/** How often the clocks are read while resting, because timers stand still while the machine sleeps. */
const SLICE_MS = 60_000
/** When the wall clock has moved by more than this against the monotonic one, what depends on the wall clock is due. */
const JUMP_MS = 30_000

/** Wakes the daemon's loop. It rings until `heard`, so a ring that comes while the loop works is not lost. */
export class Bell {
  #ringing = new AbortController()

  /** Aborted while it rings. There is another signal after each `heard`. */
  get signal(): AbortSignal {
    return this.#ringing.signal
  }

  ring(): void {
    this.#ringing.abort()
  }

  heard(): void {
    if (this.#ringing.signal.aborted) this.#ringing = new AbortController()
  }
}

export interface RestParts {
  stale: StaleFolders
  bell: Bell
  clock: Clock
  aliveEveryMs?: number | undefined
}

/**
 * Rests until a folder is stale, the bell rings, the wall clock has jumped, or `mostMs` have passed. `onSlice` is told
 * at least once a minute, or as often as `aliveEveryMs` says.
 */
export async function rest(
  { stale, bell, clock, aliveEveryMs = SLICE_MS }: RestParts,
  mostMs: number,
  stop: AbortSignal,
  onSlice: () => void = () => {},
): Promise<void> {
  const end = clock.monotonic() + mostMs
  const offset = clock.wall() - clock.monotonic()
  const called = AbortSignal.any([stop, bell.signal])
  while (!called.aborted) {
    onSlice()
    const left = end - clock.monotonic()
    if (left <= 0) return
    await stale.wait(Math.min(left, SLICE_MS, aliveEveryMs), clock, called)
    if (stale.any || Math.abs(clock.wall() - clock.monotonic() - offset) > JUMP_MS) return
  }
}

/** Sleeps until the wall clock shows `wall`. When the machine slept meanwhile, it wakes up to SLICE_MS too late. */
export async function sleepUntil(wall: number, clock: Clock, stop: AbortSignal): Promise<void> {
  while (!stop.aborted && clock.wall() < wall)
    await clock.sleep(Math.min(wall - clock.wall(), SLICE_MS), stop)
}
