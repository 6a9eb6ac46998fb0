import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import type { PassEvent } from '../../sync/pass-events.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Listener } from '../listener.ts'
import { statusOf } from '../report/status.ts'
import type { ServiceManager } from './service-manager.ts'
import { statusLine } from './status-line.ts'

/** After these the sentence may be another one. */
const NEWS: ReadonlySet<PassEvent['event']> = new Set([
  'scan_started',
  'scan_finished',
  'mirror_guarded',
  'uploads_started',
  'picture_uploaded',
  'picture_failed',
  'uploads_stopped',
  'image_deleted',
  'deletions_held',
])

/** The same listener, and a service manager that hears beside it how the daemon is with this state. */
export function reportTo(
  manager: ServiceManager | null,
  listener: Listener,
  config: Config,
  synced: Synced,
  clock: Clock,
): Listener {
  if (manager === null) return listener
  const news = () => manager.statusSoon(() => statusLine(statusOf(config, synced, true, clock.wall())))
  return {
    ...listener,
    aliveEveryMs: manager.signEveryMs,
    alive() {
      listener.alive?.()
      manager.alive()
    },
    tell(told) {
      listener.tell(told)
      if (NEWS.has(told.event)) news()
    },
    onPass(synced) {
      listener.onPass(synced)
      news()
    },
  }
}
