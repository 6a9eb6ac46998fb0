import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Bus } from '../events.ts'
import { statusOf } from '../report/status.ts'
import type { ServiceManager } from './service-manager.ts'
import { statusLine } from './status-line.ts'

/** After one of these events the status line may have changed. */
const NEWS: ReadonlySet<SpokenEvent['event']> = new Set([
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

/** Tells the service manager how the daemon is, while it works with one state. Answers a function that ends that. */
export function reportTo(
  manager: ServiceManager,
  bus: Bus,
  config: Config,
  synced: Synced,
  clock: Clock,
): () => void {
  const onNews = () => manager.statusSoon(() => statusLine(statusOf(config, synced, true, clock.wall())))
  const unsubscribe = [
    bus.on('alive', () => manager.alive()),
    bus.on('news', told => {
      if (NEWS.has(told.event)) onNews()
    }),
    bus.on('passEnded', onNews),
  ]
  return () => {
    for (const end of unsubscribe) end()
  }
}
