import type { Clock } from '../sync/clock.ts'

/** Wakes a sleeper. The bell rings until `heard`, so a ring that comes while nobody sleeps is not lost. */
export class Bell {
  #ringing = new AbortController()

  /** Aborted while the bell rings. There is another signal after each `heard`. */
  get signal(): AbortSignal {
    return this.#ringing.signal
  }

  ring(): void {
    this.#ringing.abort()
  }

  heard(): void {
    if (this.#ringing.signal.aborted) this.#ringing = new AbortController()
  }

  /** Sleeps until the bell rings, `stop` is aborted, or `ms` have passed. Answers whether the bell rings. */
  async sleep(ms: number, clock: Pick<Clock, 'sleep'>, stop: AbortSignal): Promise<boolean> {
    const bell = this.signal
    await clock.sleep(ms, AbortSignal.any([stop, bell]))
    return bell.aborted
  }
}
