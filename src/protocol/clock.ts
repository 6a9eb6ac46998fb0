import { setTimeout } from 'node:timers/promises'

/** A time in milliseconds since 1970. */
export type Millis = number

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A clock for code that only measures. */
export interface Stopwatch {
  /** Milliseconds since the machine started. This clock never jumps, and all processes of one boot share it. */
  monotonic(): number
}

/** A clock for code that must not depend on one that somebody may set. */
export interface SteadyClock extends Stopwatch {
  /** Resolves after `ms`, or at once when `signal` is aborted. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** Time as a parameter, so that the simulation can play years in seconds. */
export interface Clock extends SteadyClock {
  /** The system's clock, which somebody may set. */
  wall(): Millis
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
}
