import { statSync, unwatchFile, watchFile } from 'node:fs'
import { keyFileOf } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import { type CommandQueue, RENEWED } from '../commands/queue.ts'
import type { Access } from '../engine/remote.ts'
import type { Bus } from '../events.ts'
import type { ServiceManager } from '../notify/service-manager.ts'
import { orNull } from '../or-null.ts'
import type { RootLocks } from '../state/claim.ts'
import { refuseOther } from '../state/state.ts'

/** Why the config or the key that was read last was refused, by the facts that record this. Null: it was not. */
type Refusals = Record<'config_refused' | 'key_refused', string | null> & { config_needs_stop: true | null }

/** What the daemon runs with. */
export interface Settings {
  config: Config
  access: Access
}

/** Where a running daemon gets other settings from. */
export interface Renewable {
  /** The config's file. */
  file: string
  /** `read` must be called each time that a person asks for the config to be read again. */
  onAsked(read: () => void): void
  /** Reads all settings. Throws ConfigError. */
  settings(): Promise<Settings>
  /** Reads the key again, for a config that stays the same. Throws ConfigError. */
  accessFor(config: Config): Access
  /** Called when the daemon has taken new settings. */
  onTaken(settings: Settings): void
}

/** How often the key's file is looked at: a person who has changed the key wants to see soon whether it works. */
const KEY_FILE_MS = 10_000

export interface SettingsOptions {
  roots: RootLocks
  queue: CommandQueue
  /** Null: the settings never change. */
  from: Renewable | null
  note: Bus['note']
  manager: ServiceManager | null
}

/** The settings of a running daemon. A pass ends before new ones are taken. Wrong ones raise an event and change nothing. */
export class CurrentSettings {
  readonly #options: SettingsOptions
  #current: Settings
  readonly #refused: Refusals = { config_refused: null, key_refused: null, config_needs_stop: null }
  #replaced = new AbortController()
  #latest = Promise.resolve()
  #keyFile: string | null = null
  /** What tells the key's file, as it was when it was last read, from a changed one. */
  #keyMark: string | null = null
  #hasEnded = false

  constructor(first: Settings, options: SettingsOptions) {
    this.#current = first
    this.#options = options
    const { from, queue } = options
    if (!from) return
    from.onAsked(() => void this.#inTurn(() => this.#readConfig(from).then(() => this.#watchKeyFile(from))))
    this.#watchKeyFile(from)
    queue.renewKey = () => this.#renewKey(from)
  }

  get current(): Settings {
    return this.#current
  }

  /** Begins a session. The signal is aborted when the daemon has taken other settings, so the session must end. */
  begin(): AbortSignal {
    this.#replaced = new AbortController()
    return this.#replaced.signal
  }

  /** Resolves when nothing is being read any more. */
  async close(): Promise<void> {
    this.#hasEnded = true
    if (this.#keyFile !== null) unwatchFile(this.#keyFile)
    await this.#latest
  }

  /** Records what is refused, and what is no longer. */
  readonly record = ({ meta }: Tx): void => {
    for (const fact of ['config_refused', 'key_refused', 'config_needs_stop'] as const) {
      const why = this.#refused[fact]
      if (why === null) meta.clear(fact)
      else meta.set(fact, why)
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#latest = this.#latest.then(() => (this.#hasEnded ? undefined : work()))
    return this.#latest
  }

  /** Takes settings, after the same checks as at the start. `synced`: the state, or null where it is not open. */
  #takeHere(next: Settings, synced: Synced | null): void {
    const { config } = this.#current
    const { roots } = this.#options
    if (next.config.state_dir !== config.state_dir)
      throw new StateError(
        'STATE_OTHER_DIR',
        'state_dir can not change while albumd runs. Stop albumd, then start it again',
        true,
      )
    if (synced) refuseOther(synced, next.config)
    else if (next.config !== config)
      throw new Error('the state can not be opened, so nobody knows whether it belongs to this config')
    const [before, after] = [config, next.config].map(({ mirrors }) => mirrors.map(({ folder }) => folder))
    // The roots of both configs are locked first, so that no other albumd can lock one in between.
    roots.follow([...new Set([...before!, ...after!])])
    const [taken] = roots.lockMissing().values()
    roots.follow(taken ? before! : after!)
    if (taken) throw taken
    // A config is read with its key.
    if (next.config !== config)
      Object.assign(this.#refused, { config_refused: null, config_needs_stop: null })
    this.#refused.key_refused = null
    this.#current = next
    this.#replaced.abort(RENEWED)
  }

  /** Takes settings between two passes, or at once where the state can't be opened. Throws why it can't. */
  async #take(next: Settings): Promise<void> {
    const { queue } = this.#options
    if (queue.isClosed) return this.#takeHere(next, null)
    // The error is returned, not thrown, because the queue would take a thrown StateError for a failure of the state.
    const carryOut = async ({ synced }: { synced: Synced }) => {
      try {
        this.#takeHere(next, synced)
        return null
      } catch (error) {
        return error
      }
    }
    const refusal = await queue.ask({ carryOut }, {})
    if (refusal !== null) throw refusal
  }

  /** Status and health show the refusal until another config or key is taken. */
  async #refuse(what: 'config_refused' | 'key_refused', { message }: Error): Promise<void> {
    const { queue, note } = this.#options
    const lines = message.split('\n')
    this.#refused[what] = lines[0]!
    // When the state is closed or fails, the next session records the refusal.
    await queue.session?.synced.commit(this.record).catch(() => {})
    const before = what === 'key_refused' ? 'key' : 'config'
    for (const line of lines) note({ event: what, message: `${line}; the ${before} from before stays` })
  }

  async #readConfig({ settings, onTaken }: Renewable): Promise<void> {
    const { manager, note } = this.#options
    manager?.reloading()
    try {
      await this.#take(await settings())
      onTaken(this.#current)
      note({ event: 'config_taken' })
    } catch (error) {
      this.#refused.config_needs_stop = error instanceof StateError && error.needsStop ? true : null
      await this.#refuse('config_refused', error as Error)
    } finally {
      manager?.ready()
    }
  }

  async #readKey({ accessFor }: Renewable): Promise<void> {
    const { config } = this.#current
    try {
      await this.#take({ config, access: accessFor(config) })
      this.#options.note({ event: 'key_taken' })
    } catch (error) {
      const { message } = error as Error
      const file = this.#keyFile
      // The key was read from this file before, so its path can't be a key that somebody wrote in the path's place.
      await this.#refuse(
        'key_refused',
        new Error(file === null || message.includes(file) ? message : `${message} (${file})`),
      )
    }
  }

  /** Reads the key when its file is another one than was read last, or is gone. */
  #renewKey(from: Renewable): Promise<void> {
    const mark = this.#keyFile === null ? null : markOf(this.#keyFile)
    if (mark === this.#keyMark) return this.#latest
    this.#keyMark = mark
    return this.#inTurn(() => this.#readKey(from))
  }

  #watchKeyFile(from: Renewable): void {
    const file = keyFileOf(this.#current.config, process.env)?.file ?? null
    if (file === this.#keyFile) return
    if (this.#keyFile !== null) unwatchFile(this.#keyFile)
    this.#keyFile = file
    if (file === null) return
    this.#keyMark = markOf(file)
    watchFile(file, { interval: KEY_FILE_MS, persistent: false }, () => void this.#renewKey(from))
  }
}

/** A link is followed, because secrets are often replaced by changing a link. Null: there is no such file. */
function markOf(file: string): string | null {
  const stats = orNull(() => statSync(file, { bigint: true }))
  return stats && `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
}
