import { statSync, unwatchFile, watchFile } from 'node:fs'
import { accessFilesOf, keyFileOf } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import { type CommandQueue, ENDED, RENEWED } from '../commands/queue.ts'
import type { Access } from '../engine/remote.ts'
import type { Bus } from '../events.ts'
import type { ServiceManager } from '../notify/service-manager.ts'
import { orNull } from '../or-null.ts'
import type { RootLocks } from '../state/claim.ts'
import { readState, refuseOther } from '../state/state.ts'

/** Why config or key were refused when they were last read, by the fact that records it. Null: not refused. */
type Refusals = Record<'config_refused' | 'key_refused', string | null> & { config_needs_stop: true | null }

export interface Settings {
  config: Config
  access: Access
}

export interface Renewable {
  file: string
  /** `read` must be called each time that a person asks for the config to be read again. */
  onAsked(read: () => void): void
  settings(): Promise<Settings>
  /** Reads key, certificates and password again, for a config that stays the same. Throws ConfigError. */
  accessFor(config: Config): Access
  onTaken(settings: Settings): void
}

/** How often the files of the access are looked at. A person who has changed the key wants to see soon whether it works. */
const ACCESS_FILES_MS = 10_000

export interface SettingsOptions {
  roots: RootLocks
  queue: CommandQueue
  /** Null: the settings never change. */
  from: Renewable | null
  note: Bus['note']
  manager: ServiceManager | null
}

/** The settings of a running daemon. Settings are replaced between passes. Wrong ones raise an event and change nothing. */
export class CurrentSettings {
  readonly #options: SettingsOptions
  #current: Settings
  readonly #refused: Refusals = { config_refused: null, key_refused: null, config_needs_stop: null }
  #replaced = new AbortController()
  #latest = Promise.resolve()
  /** The files from which the access is read: those of the key, the certificates and the password. */
  #files: readonly string[] = []
  /** The mark of these files when they were last read (`markOf`). A changed file has another mark. */
  #mark = ''
  #hasEnded = false

  constructor(first: Settings, options: SettingsOptions) {
    this.#current = first
    this.#options = options
    const { from, queue } = options
    if (!from) return
    from.onAsked(() => void this.#inTurn(() => this.#readConfig(from).then(() => this.#watchFiles(from))))
    this.#watchFiles(from)
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

  /** Aborted when other settings were taken since the last session began. */
  get renewed(): AbortSignal {
    return this.#replaced.signal
  }

  async close(): Promise<void> {
    this.#hasEnded = true
    for (const file of this.#files) unwatchFile(file)
    await this.#latest
  }

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

  /** Takes settings, after the same checks as at the start. `synced`: the state; null: no session has it open, so it is read
   * without a lock. Throws StateError, also where the state can't be read. */
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
    else if (next.config !== config) readState(next.config, synced => refuseOther(synced, next.config))
    const [before, after] = [config, next.config].map(({ mirrors }) => mirrors.map(({ folder }) => folder))
    // The roots of both configs are locked first, so that no other albumd locks one of them in between.
    roots.follow([...new Set([...before!, ...after!])])
    const [taken] = roots.lockMissing().values()
    roots.follow(taken ? before! : after!)
    if (taken) throw taken
    // Reading a config reads its key too, so the refusal of a key ends in any case.
    if (next.config !== config)
      Object.assign(this.#refused, { config_refused: null, config_needs_stop: null })
    this.#refused.key_refused = null
    this.#current = next
    this.#replaced.abort(RENEWED)
  }

  /** Takes settings between two passes, or at once where no session can be opened. Throws the reason of a refusal. */
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
    const refusal = await queue.ask({ carryOut }, {}).catch(error => {
      // When no session could be opened, the settings are taken here.
      if (!queue.isClosed || error === ENDED) return error
      this.#takeHere(next, null)
      return null
    })
    if (refusal !== null) throw refusal
  }

  /** Records a refusal, which status and health show until another config or key is taken. */
  async #refuse(what: 'config_refused' | 'key_refused', { message }: Error): Promise<void> {
    const { queue, note } = this.#options
    this.#refused[what] = message.split('\n')[0]!
    // A failure is ignored: the next session records the refusal.
    await queue.session?.synced.commit(this.record).catch(() => {})
    note({ event: what, message: `${message.replaceAll('\n', '; ')}; the old one stays` })
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
      // The key was read from this file before, so its path can't be a key that somebody wrote in the path's place.
      const isNamed = this.#files.some(file => message.includes(file))
      const file = keyFileOf(config, process.env)?.file
      await this.#refuse(
        'key_refused',
        isNamed || !file ? (error as Error) : new Error(`${message} (${file})`),
      )
    }
  }

  /** Reads the access again when one of its files has changed or is gone. */
  #renewKey(from: Renewable): Promise<void> {
    const mark = markOf(this.#files)
    if (mark === this.#mark) return this.#latest
    this.#mark = mark
    return this.#inTurn(() => this.#readKey(from))
  }

  #watchFiles(from: Renewable): void {
    for (const file of this.#files) unwatchFile(file)
    this.#files = accessFilesOf(this.#current.config, process.env)
    this.#mark = markOf(this.#files)
    for (const file of this.#files)
      watchFile(file, { interval: ACCESS_FILES_MS, persistent: false }, () => void this.#renewKey(from))
  }
}

/** A text that changes with the files. Links are followed, because secrets are often replaced by changing a link. */
function markOf(files: readonly string[]): string {
  const stats = files.map(file => orNull(() => statSync(file, { bigint: true })))
  return stats.map(of => of && `${of.dev} ${of.ino} ${of.size} ${of.mtimeNs} ${of.ctimeNs}`).join('\n')
}
