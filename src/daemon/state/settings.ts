import type { Config } from '../../config/schema.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Access } from '../loop/mirroring.ts'
import type { RootLocks } from './claim.ts'
import { refuseOther } from './state.ts'

/** What the daemon runs with. */
export interface Settings {
  config: Config
  access: Access
}

/** The settings of a running daemon, which a person may replace. */
export class CurrentSettings {
  readonly #roots: RootLocks
  #current: Settings
  /** The last settings that the state was opened with. */
  #proved: Settings | null = null
  #replaced = new AbortController()

  constructor(first: Settings, roots: RootLocks) {
    this.#current = first
    this.#roots = roots
  }

  get current(): Settings {
    return this.#current
  }

  /**
   * Begins a session with the current settings. `replaced` is aborted when others were taken: then the session must
   * end.
   */
  begin(): Settings & { replaced: AbortSignal } {
    this.#replaced = new AbortController()
    return { ...this.#current, replaced: this.#replaced.signal }
  }

  /** The state was opened with the current settings. */
  prove(): void {
    this.#proved = this.#current
  }

  /** Goes back to the last settings that the state was opened with. False: there are no others. */
  goBack(): boolean {
    if (this.#proved === null || this.#proved === this.#current) return false
    this.#current = this.#proved
    this.#roots.follow(foldersOf(this.#current))
    return true
  }

  /**
   * Takes other settings, after the checks of the start. `synced`: the state, where it is open. Throws an Error that
   * says why they can't be taken. Then the current settings stay.
   */
  async take(next: Settings, synced: Synced | null): Promise<void> {
    const before = this.#current
    if (next.config.state_dir !== before.config.state_dir)
      throw new Error('state_dir: it can not change while albumd runs; stop albumd, then start it again')
    if (synced) refuseHere(synced, next.config)
    // The roots of both are locked meanwhile, so that no other albumd can take one of them in between.
    this.#roots.follow([...new Set([...foldersOf(before), ...foldersOf(next)])])
    const [taken] = (await this.#roots.lockMissing()).values()
    this.#roots.follow(foldersOf(taken ? before : next))
    if (taken) throw taken
    this.#current = next
    this.#replaced.abort()
  }
}

/** Throws a plain Error, because a config that does not fit is no error of the state. */
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
