import type { Config } from '../../config/schema.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Access } from '../loop/mirroring.ts'
import type { RootLocks } from './root-locks.ts'
import { refuseOther } from './state.ts'

/** What the daemon runs with. */
export interface Settings {
  config: Config
  access: Access
}

/** The settings of a daemon that can take others while it runs. */
export class CurrentSettings {
  readonly #roots: RootLocks
  #current: Settings
  /** Those that have worked with this state. */
  #proved: Settings | null = null
  #replaced = new AbortController()

  constructor(first: Settings, roots: RootLocks) {
    this.#current = first
    this.#roots = roots
  }

  get current(): Settings {
    return this.#current
  }

  /** Begins work with the current ones. `replaced`: others were taken, and the work is to end. */
  begin(): Settings & { replaced: AbortSignal } {
    this.#replaced = new AbortController()
    return { ...this.#current, replaced: this.#replaced.signal }
  }

  /** The state belongs to the current ones. */
  prove(): void {
    this.#proved = this.#current
  }

  /** Goes back to those that worked. False: there are no others. */
  goBack(): boolean {
    if (this.#proved === null || this.#proved === this.#current) return false
    this.#current = this.#proved
    this.#roots.follow(foldersOf(this.#current))
    return true
  }

  /**
   * Takes other settings, checked as at the start. `synced`: the state, where it is open. Throws an Error that says why
   * they can't be; then the current ones stay.
   */
  async take(next: Settings, synced: Synced | null): Promise<void> {
    const before = this.#current
    if (next.config.state_dir !== before.config.state_dir)
      throw new Error('state_dir: it can not change while albumd runs; stop albumd, then start it again')
    if (synced) refuseHere(synced, next.config)
    // Those of both are held meanwhile: nobody gets in between.
    this.#roots.follow([...new Set([...foldersOf(before), ...foldersOf(next)])])
    const [taken] = (await this.#roots.lockMissing()).values()
    this.#roots.follow(foldersOf(taken ? before : next))
    if (taken) throw taken
    this.#current = next
    this.#replaced.abort()
  }
}

/** That another config does not fit is no trouble of the state. */
function refuseHere(synced: Synced, config: Config): void {
  try {
    refuseOther(synced, config)
  } catch (error) {
    throw error instanceof StateError ? new Error(error.message) : error
  }
}

function foldersOf({ config }: Settings): string[] {
  return config.mirrors.map(({ folder }) => folder)
}
