import type { Clock } from '../../sync/clock.ts'
import type { StaleFolders } from '../watch/stale-folders.ts'

/** A machine that sleeps stops our timers, so the clocks are looked at so often. */
const SLICE_MS = 60_000
/** The wall clock was set, or the machine slept: what hangs on its time is to be thought over. */
const JUMP_MS = 30_000

/** Calls the daemon's loop away from its rest. It rings on until the loop has heard it. */
export class Bell {
  #ringing = new AbortController()

  /** Aborted while it rings. Each `heard` begins another one. */
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
 * Rests until a folder is stale, the bell rings, the wall clock has jumped, or `mostMs` have passed. `onSlice` is told at
 * least once a minute, or as often as `aliveEveryMs` says.
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

/** Sleeps until the wall clock says so, at most a slice too long where the machine slept. */
export async function sleepUntil(wall: number, clock: Clock, stop: AbortSignal): Promise<void> {
  while (!stop.aborted && clock.wall() < wall)
    await clock.sleep(Math.min(wall - clock.wall(), SLICE_MS), stop)
}
