/** Time for the gate and the line. A parameter, so that tests can pass hours of it at once. */
export interface Clock {
  /** Milliseconds on a clock that never jumps. */
  now(): number
  /** Resolves early, without an error, when `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
