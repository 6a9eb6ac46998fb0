import type { Clock } from '../sync/clock.ts'

/** Work that goes on beside its owner's, and must end together with it. */
export class Background {
  readonly #ended = new AbortController()
  readonly #work: Promise<unknown>[] = []

  /** Starts work, which must resolve soon after `ended` is aborted. */
  run(work: (ended: AbortSignal) => Promise<unknown>): void {
    this.#work.push(work(this.#ended.signal))
  }

  /** Resolves when all work has ended. Throws the first error of the work. */
  async end(): Promise<void> {
    this.#ended.abort()
    await Promise.all(this.#work)
  }
}

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
