import type { Clock } from '../../src/sync/clock.ts'
import type { Random } from './random.ts'
import type { MachineClock, Timeline } from './virtual-clock.ts'

/** One process, from its start to its end. What it has under way when it ends never comes back to it. */
export class Life {
  dead = false
  readonly time: Timeline
  readonly clock: Clock
  readonly #random: Random
  readonly #onStep: (what: string) => void

  constructor(time: Timeline, machine: MachineClock, random: Random, onStep: (what: string) => void) {
    this.time = time
    this.clock = machine.of(this)
    this.#random = random
    this.#onStep = onStep
  }

  /** The world may go on here: people act, the process may end. */
  step(what: string): void {
    this.#onStep(what)
  }

  /** A step, and a little time. */
  async pause(what: string): Promise<void> {
    if (!this.dead) this.step(what)
    await new Promise<void>(resolve => {
      if (this.dead) return
      this.time.after(1 + this.#random.below(20), () => {
        if (!this.dead) resolve()
      })
    })
  }
}
