import type { SteadyClock } from '../protocol/clock.ts'

/** Wakes whoever waits in `sleep`. A ring lasts until `heard` is called, so a ring before `sleep` is not lost. */
export class Bell {
  #ringing = new AbortController()

  /** A signal that `ring` aborts. After `heard` there is a new signal. */
  get signal(): AbortSignal {
    return this.#ringing.signal
  }

  ring(): void {
    this.#ringing.abort()
  }

  heard(): void {
    if (this.#ringing.signal.aborted) this.#ringing = new AbortController()
  }

  /** Sleeps until the bell rings, `stop` is aborted, or `ms` have passed. Returns whether the bell has rung. */
  async sleep(ms: number, clock: SteadyClock, stop: AbortSignal): Promise<boolean> {
    const bell = this.signal
    await clock.sleep(ms, AbortSignal.any([stop, bell]))
    return bell.aborted
  }
}
