import { statSync } from 'node:fs'
import { keyFileOf } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { type Clock, systemClock } from '../../sync/clock.ts'
import type { Synced } from '../../synced/synced.ts'
import type { CommandQueue } from '../commands/queue.ts'
import type { Bus } from '../events.ts'
import type { ServiceManager } from '../notify/service-manager.ts'
import type { CurrentSettings, Settings } from './settings.ts'

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
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(file)
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ')
  } catch {
    return null
  }
}
