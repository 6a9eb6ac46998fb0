import { systemClock } from '../../sync/clock.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Errands } from '../control/errands.ts'
import type { Note } from '../daemon-event.ts'
import type { ServiceManager } from '../service-manager/service-manager.ts'
import { watchKeyFile } from './key-file.ts'
import type { CurrentSettings, Settings } from './settings.ts'

/** Where a running daemon has other settings from. */
export interface Renewable {
  /** `read` is to be called each time that a person wants the config to be read again. */
  onAsked(read: () => void): void
  /** All settings as they are now. Throws ConfigError. */
  settings(): Settings
  /** The key as it is now, for a config that stays. Throws ConfigError. */
  accessFor(config: Settings['config']): Settings['access']
  /** They were taken. */
  onTaken(settings: Settings): void
}

/**
 * Reads the config again on request, and the key when its file changes, until `stop`. What is under way comes to its end
 * first. What is wrong is said, and the settings stay. Resolves once nothing is read any more.
 */
export async function renew(
  settings: CurrentSettings,
  errands: Errands,
  from: Renewable,
  note: Note,
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
      await take(settings, errands, () => from.settings())
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
      await take(settings, errands, () => {
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

/** Between passes where there are some. Where albumd waits for its state, at once. */
function take(settings: CurrentSettings, errands: Errands, read: () => Settings): Promise<void> {
  const next = (synced: Synced | null) => settings.take(read(), synced)
  if (errands.workplace === null) return next(null)
  const hearing = { tell() {}, say() {}, progress() {} }
  const never = new AbortController().signal
  return errands.ask({ carryOut: ({ synced }) => next(synced) }, {}, hearing, never)
}
