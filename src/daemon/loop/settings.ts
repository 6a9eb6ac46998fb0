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

/**
 * How often the key's file is looked at. A command that sends requests looks at the file too. A person who has changed the key
 * wants to see soon whether it works.
 */
const KEY_FILE_MS = 10_000

/** The settings of a running daemon, which a person may replace. */
export type CurrentSettings = ReturnType<typeof openSettings>

/**
 * Reads the config again on request, and the key when its file changes. A pass that is under way ends before the new
 * settings are taken. When the new settings are wrong, an event says so and the current settings stay. `from` null: the
 * settings never change.
 */
export function openSettings(
  first: Settings,
  roots: RootLocks,
  queue: CommandQueue,
  from: Renewable | null,
  note: Bus['note'],
  manager: ServiceManager | null,
) {
  let current = first
  const refused: Refusals = { config_refused: null, key_refused: null, config_needs_stop: null }
  let replaced = new AbortController()
  let latest = Promise.resolve()
  let keyFile: string | null = null
  /** What tells the key's file, as it was when it was last read, from a changed one. */
  let keyMark: string | null = null
  let hasEnded = false

  function inTurn(work: () => Promise<void>): Promise<void> {
    latest = latest.then(() => (hasEnded ? undefined : work()))
    return latest
  }

  /** Takes settings, after the same checks as at the start. `synced`: the state, or null where it is not open. */
  async function takeHere(next: Settings, synced: Synced | null): Promise<void> {
    const { config } = current
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
    // First the roots of both configs are locked, and then those of the config that was not taken are released. So no other
    // albumd can lock a root in between.
    roots.follow([...new Set([...before!, ...after!])])
    const [taken] = roots.lockMissing().values()
    roots.follow(taken ? before! : after!)
    if (taken) throw taken
    // A config is read with its key.
    if (next.config !== config) Object.assign(refused, { config_refused: null, config_needs_stop: null })
    refused.key_refused = null
    current = next
    replaced.abort(RENEWED)
  }

  /**
   * Takes settings between two passes, or at once where the state can't be opened. Throws the reason when the settings
   * can't be taken.
   */
  async function take(next: Settings): Promise<void> {
    // The error is answered, not thrown, because the queue would take a thrown StateError for a failure of the state.
    const refusalOf = async (synced: Synced | null) => {
      try {
        await takeHere(next, synced)
        return null
      } catch (error) {
        return error
      }
    }
    const carryOut = ({ synced }: { synced: Synced }) => refusalOf(synced)
    const refusal = queue.isClosed ? await refusalOf(null) : await queue.ask({ carryOut }, {})
    if (refusal !== null) throw refusal
  }

  /** Records what is refused, and what is no longer. */
  function record({ meta }: Tx): void {
    for (const fact of ['config_refused', 'key_refused', 'config_needs_stop'] as const) {
      const why = refused[fact]
      if (why === null) meta.clear(fact)
      else meta.set(fact, why)
    }
  }

  /** Status and health show the refusal until another config or key is taken. */
  async function refuse(what: 'config_refused' | 'key_refused', { message }: Error): Promise<void> {
    const [first = ''] = message.split('\n')
    refused[what] = first
    // When the state is closed or fails, the next session records the refusal.
    await queue.session?.synced.commit(record).catch(() => {})
    const before = what === 'key_refused' ? 'key' : 'config'
    for (const line of message.split('\n'))
      note({ event: what, message: `${line}; the ${before} from before stays` })
  }

  async function readConfig({ settings, onTaken }: Renewable): Promise<void> {
    manager?.reloading()
    try {
      await take(await settings())
      onTaken(current)
      note({ event: 'config_taken' })
    } catch (error) {
      refused.config_needs_stop = error instanceof StateError && error.needsStop ? true : null
      await refuse('config_refused', error as Error)
    } finally {
      manager?.ready()
    }
  }

  async function readKey({ accessFor }: Renewable): Promise<void> {
    const { config } = current
    try {
      await take({ config, access: accessFor(config) })
      note({ event: 'key_taken' })
    } catch (error) {
      const { message } = error as Error
      // The key was read from this file before, so its path can't be a key that somebody wrote in the path's place.
      const named = keyFile === null || message.includes(keyFile) ? message : `${message} (${keyFile})`
      await refuse('key_refused', new Error(named))
    }
  }

  /** Reads the key when its file is another one than was read last, or is gone. */
  function renewKey(from: Renewable): Promise<void> {
    const mark = keyFile === null ? null : markOf(keyFile)
    if (mark === keyMark) return latest
    keyMark = mark
    return inTurn(() => readKey(from))
  }

  function watchKeyFile(from: Renewable): void {
    const file = keyFileOf(current.config, process.env)?.file ?? null
    if (file === keyFile) return
    if (keyFile !== null) unwatchFile(keyFile)
    keyFile = file
    if (file === null) return
    keyMark = markOf(file)
    watchFile(file, { interval: KEY_FILE_MS, persistent: false }, () => void renewKey(from))
  }

  if (from) {
    from.onAsked(() => void inTurn(() => readConfig(from).then(() => watchKeyFile(from))))
    watchKeyFile(from)
    queue.renewKey = () => renewKey(from)
  }
  return {
    get current() {
      return current
    },
    record,
    /** Begins a session. The signal is aborted when the daemon has taken other settings, so the session must end. */
    begin() {
      replaced = new AbortController()
      return replaced.signal
    },
    /** Resolves when nothing is being read any more. */
    async close() {
      hasEnded = true
      if (keyFile !== null) unwatchFile(keyFile)
      await latest
    },
  }
}

/** A link is followed, because secrets are often replaced by changing a link. Null: there is no such file. */
function markOf(file: string): string | null {
  const stats = orNull(() => statSync(file, { bigint: true }))
  return stats && `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
}
