/** Time as the gate needs it; a parameter, so that tests and simulations have their own. */
export interface Clock {
  /** Milliseconds on a clock that never jumps. */
  now(): number
  /** Ends early, without an error, when `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
