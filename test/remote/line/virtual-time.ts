import type { SteadyClock } from '../../../src/protocol/clock.ts'
import { quiet, Timeline } from '../../sim/engine/virtual-clock.ts'

/** Time that passes only when nothing else is left to do, so that hours of it take no time. */
export class VirtualTime {
  readonly #time = new Timeline()

  readonly clock: SteadyClock = {
    monotonic: () => this.#time.now,
    sleep: (ms, signal) =>
      new Promise(resolve => {
        if (signal.aborted) return resolve()
        // Thousands of listeners that are left behind would make adding another one slow.
        const wake = () => {
          signal.removeEventListener('abort', wake)
          resolve()
        }
        signal.addEventListener('abort', wake)
        this.#time.after(ms, wake)
      }),
  }

  after(ms: number, act: () => void): void {
    this.#time.after(ms, act)
  }

  /** Lets time pass until all the work is done. */
  async all<T>(work: readonly Promise<T>[]): Promise<T[]> {
    let over = false
    const results = Promise.all(work).finally(() => {
      over = true
    })
    for (await quiet(); !over; await quiet()) {
      if (this.#time.next() === null) throw new Error('nothing happens any more, and not all is done')
      this.#time.advance()
    }
    return results
  }
}
