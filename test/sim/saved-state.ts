import type { Pause } from '../../src/daemon/loop/pause.ts'
import type { Known } from './quota-judge.ts'
import type { Saved } from './state-kit.ts'
import type { World } from './world.ts'

/** albumd's records, as people save them, take an old copy back, and lose them. */
export class SavedState {
  readonly #world: World
  #saved: { rows: Saved; pause: Pause | null; quota: Known } | null = null
  /** The state is another one than the last process left. */
  knowsLess = false

  constructor(world: World) {
    this.#world = world
  }

  save(): void {
    const { state, pausing, oracle } = this.#world
    this.#saved = { rows: state.save(), pause: pausing.saved(), quota: oracle.quota.recorded() }
  }

  /** False: none was saved. */
  restore(downMs: number): boolean {
    if (!this.#saved) return false
    this.#replace(downMs)
    const { state, pausing, oracle } = this.#world
    state.restore(this.#saved.rows)
    pausing.restored(this.#saved.pause)
    oracle.quota.restored(this.#saved.quota)
    return true
  }

  lose(downMs: number): void {
    this.#replace(downMs)
    this.#world.state.clear()
    this.#world.pausing.restored(null)
    this.#world.oracle.quota.restored(null)
  }

  #replace(downMs: number): void {
    const { oracle, host, looks, grounds, emptied, pruning } = this.#world
    this.#world.kill(downMs)
    this.knowsLess = true
    oracle.forgetDeletions()
    host.mayBlink = false
    looks.clear()
    grounds.lostMount.clear()
    grounds.otherRoot.clear()
    grounds.ignoreGone.clear()
    emptied.forget('')
    pruning.forget()
  }
}
