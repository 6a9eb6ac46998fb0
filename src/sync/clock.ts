import type { Moment } from '../records/escrow.ts'

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
