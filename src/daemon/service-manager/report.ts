import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Bus } from '../events.ts'
import { count } from '../report/quantities.ts'
import { type Status, statusOf } from '../report/status.ts'
import type { ServiceManager } from './service-manager.ts'

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

/** The status as one sentence, which the service manager shows. What is gravest comes first. */
export function statusLine({ mirrors, quota, blocks }: Pick<Status, 'mirrors' | 'quota' | 'blocks'>): string {
  const sum = (what: 'files' | 'synced' | 'linked' | 'pending_uploads' | 'held_deletions' | 'failed') =>
    mirrors.reduce((total, mirror) => total + mirror[what], 0)
  const guarded = mirrors.find(({ state }) => state === 'guarded')
  const paused = mirrors.find(({ state }) => state === 'paused')
  const blocked = mirrors.some(({ state }) => state === 'blocked') ? blocks[0] : undefined
  const works = mirrors.find(({ state }) => state === 'scanning' || state === 'syncing')
  const parts = [
    ...(guarded ? [`${guarded.folder} is guarded (${guarded.reason})`] : []),
    ...(paused ? [paused.reason ?? 'paused'] : []),
    ...(blocked ? [`the host refuses ${blocked.endpoint} (${blocked.code})`] : []),
    ...(quota.exhausted ? ['the quota of the day is used up'] : []),
    `${number(sum('synced') + sum('linked'))} of ${count(sum('files'), 'picture')} on the host`,
    ...left(sum('linked'), 'of them linked, their bytes not compared yet'),
    ...left(sum('pending_uploads'), 'to upload'),
    ...left(sum('held_deletions'), 'deletions held'),
    ...left(sum('failed'), 'failed'),
    ...(works ? [works.state] : []),
  ]
  return parts.join('; ')
}

function left(n: number, what: string): string[] {
  return n > 0 ? [`${number(n)} ${what}`] : []
}

function number(n: number): string {
  return n.toLocaleString('en')
}
