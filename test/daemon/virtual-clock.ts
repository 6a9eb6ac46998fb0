import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../src/protocol/clock.ts'

interface Sleeper {
  until: number
  wake: () => void
}

/** Time that passes only when a test says so. Both clocks begin at 0. */
export class VirtualClock implements Clock {
  #now = 0
  #ahead = 0
  readonly #sleepers = new Set<Sleeper>()

  wall = () => this.#now + this.#ahead
  monotonic = () => this.#now

  sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise(resolve => {
      if (signal.aborted) return resolve()
      const sleeper: Sleeper = {
        until: this.#now + ms,
        wake: () => {
          this.#sleepers.delete(sleeper)
          signal.removeEventListener('abort', sleeper.wake)
          resolve()
        },
      }
      this.#sleepers.add(sleeper)
      signal.addEventListener('abort', sleeper.wake)
    })

  /** Sets the wall clock alone. */
  jump(ms: number): void {
    this.#ahead += ms
  }

  /** Lets this much time pass. Whoever sleeps is woken in time. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      // A woken sleeper may sleep again at once, so its next sleep is awaited.
      await turn()
      const [next] = [...this.#sleepers].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)
      if (!next) break
      this.#now = Math.max(this.#now, next.until)
      next.wake()
    }
    this.#now = end
  }
}
