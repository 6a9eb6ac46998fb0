import { type Pause, pause, resume } from '../../../src/daemon/state/pause.ts'
import type { Synced, Tx } from '../../../src/synced/synced.ts'

/** A person's word that nothing is to be sent or deleted, and what the person knows of it. */
export class Pausing {
  readonly #state: { synced: Pick<Synced, 'commitNow'> }
  #held: Pause | null = null
  #asked: (() => void) | null = null

  constructor(state: { synced: Pick<Synced, 'commitNow'> }) {
    this.#state = state
  }

  /** Whether the person counts on it at this moment by the wall clock. */
  holdsAt(wall: number): boolean {
    return this.#held !== null && (this.#held.until === null || wall < this.#held.until)
  }

  pause(until: number | null): void {
    this.#held = { until }
    void pause(this.#atOnce(), until)
  }

  resume(): void {
    this.#held = null
    void resume(this.#atOnce())
  }

  /** To be done when the pass has made way. */
  ask(command: () => void): void {
    this.#asked = command
  }

  /** The pass has ended: what was asked for meanwhile is done. */
  passEnded(): void {
    this.#asked?.()
    this.#asked = null
  }

  /** Who asked hears that the process has ended. */
  processEnded(): void {
    this.#asked = null
  }

  saved(): Pause | null {
    return this.#held
  }

  /** The state is another one. */
  restored(held: Pause | null): void {
    this.#held = held
  }

  #atOnce() {
    return { commit: async <T>(change: (tx: Tx) => T) => this.#state.synced.commitNow(change) }
  }
}
