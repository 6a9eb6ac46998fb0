import { statSync } from 'node:fs'
import { keyFileOf } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { type Clock, systemClock } from '../../sync/clock.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import { type CommandQueue, RENEWED } from '../commands/queue.ts'
import type { Access } from '../engine/engine.ts'
import type { Bus } from '../events.ts'
import type { ServiceManager } from '../notify/service-manager.ts'
import { orNull } from '../or-null.ts'
import type { RootLocks } from '../state/claim.ts'
import { refuseOther } from '../state/state.ts'

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
    this.#replaced.abort(RENEWED)
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

/** Where a running daemon gets other settings from. */
export interface Renewable {
  /** `read` must be called each time that a person asks for the config to be read again. */
  onAsked(read: () => void): void
  /** Reads all settings. Throws ConfigError. */
  settings(): Settings
  /** Reads the key for a config that stays. Throws ConfigError. */
  accessFor(config: Settings['config']): Settings['access']
  /** Called when settings were taken. */
  onTaken(settings: Settings): void
}

/**
 * Reads the config again on request, and the key when its file changes, until `stop`. What is under way is finished
 * before they are taken. When they are wrong, an event says so and the current settings stay. Resolves after `stop`,
 * when nothing is being read any more.
 */
export async function renew(
  settings: CurrentSettings,
  queue: CommandQueue,
  from: Renewable,
  note: Bus['note'],
  stop: AbortSignal,
  manager: ServiceManager | null = null,
): Promise<void> {
  let latest = Promise.resolve()
  const inTurn = (work: () => Promise<void>) => {
    latest = latest.then(() => (stop.aborted ? undefined : work()))
  }
  const readConfig = async () => {
    manager?.reloading()
    try {
      await take(settings, queue, () => from.settings())
      from.onTaken(settings.current)
      note({ event: 'config_taken' })
    } catch (error) {
      const { message } = error as Error
      for (const line of message.split('\n'))
        note({ event: 'config_refused', message: `${line}; the config from before stays` })
    } finally {
      manager?.ready()
    }
  }
  const readKey = async () => {
    try {
      await take(settings, queue, () => {
        const { config } = settings.current
        return { config, access: from.accessFor(config) }
      })
      note({ event: 'key_taken' })
    } catch (error) {
      note({ event: 'key_refused', message: `${(error as Error).message}; the key from before stays` })
    }
  }
  from.onAsked(() => inTurn(readConfig))
  await watchKeyFile(
    () => settings.current.config,
    () => inTurn(readKey),
    systemClock,
    stop,
  )
  await latest
}

/** Takes settings between two passes, or at once where no session is open. */
function take(settings: CurrentSettings, queue: CommandQueue, read: () => Settings): Promise<void> {
  const next = (synced: Synced | null) => settings.take(read(), synced)
  if (queue.session === null) return next(null)
  return queue.ask({ carryOut: ({ synced }) => next(synced) }, {})
}

/** How often the key's file is looked at. Whoever has changed the key soon looks whether it works. */
const KEY_FILE_MS = 5000

/** Calls `onChange` each time that the file of the API key was changed or replaced, until `stop`. */
async function watchKeyFile(
  configNow: () => Pick<Config, 'host'>,
  onChange: () => void,
  clock: Clock,
  stop: AbortSignal,
): Promise<void> {
  let file: string | null = null
  let known: string | null = null
  while (!stop.aborted) {
    const before: string | null = file
    file = keyFileOf(configNow(), process.env)
    const found = file === null ? null : markOf(file)
    // A file that is missing is probably being replaced, so only a file that exists is read.
    if (file === before && found !== null && found !== known) onChange()
    if (file !== before || found !== null) known = found
    await clock.sleep(KEY_FILE_MS, stop)
  }
}

/** Follows a symbolic link, because secrets are often replaced by changing a link. Null: there is no file. */
function markOf(file: string): string | null {
  const stats = orNull(() => statSync(file))
  return stats && [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ')
}
