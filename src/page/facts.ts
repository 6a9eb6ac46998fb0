import { setImmediate } from 'node:timers/promises'
import { listToDecide, type PendingDeletion } from '../daemon/commands/deletions.ts'
import type { Session } from '../daemon/commands/queue.ts'
import type { DaemonView } from '../daemon/loop/supervisor.ts'
import { type Alert, healthOf, waitsAlert } from '../daemon/notify/health.ts'
import { type LatestPicture, latestPictures } from '../daemon/report/mirrored-pictures.ts'
import { readStatus, type Status, statusOf } from '../daemon/report/status.ts'
import { realDisk } from '../local/disk.ts'
import type { Millis } from '../protocol/clock.ts'
import { leftOutBelow } from '../sync/scan/index.ts'
import { inWords } from '../words/reasons.ts'
import type { PageCommand } from './commands.ts'
import type { UnderWay, UploadRate } from './under-way.ts'

/** The page's view of the records. */
export interface Recorded {
  status: Status
  alerts: Alert[]
  latest: LatestPicture[]
  held: PendingDeletion[]
}

/** Everything that the page shows. */
export interface Facts {
  /** Null: the state is not open. */
  recorded: Recorded | null
  /** What keeps albumd from its work. Null: nothing does. */
  problem: Alert | null
  underWay: UnderWay[]
  rate: UploadRate
  commands: PageCommand[]
}

export interface LeftOutList {
  /** The mirror's folder. */
  folder: string
  /** Paths below the folder, and the reason why each is left out. */
  paths: { path: string; reason: string }[]
  /** Whether there may be more than the list holds. */
  isCut: boolean
}

const LATEST_SHOWN = 12
/** How many deletions that a person may decide about the page groups by folder. Further deletions are only counted. */
const HELD_SHOWN = 1000

/** `quietMs`: time since albumd's last sign of life. */
export function readRecorded(session: Session, now: Millis, quietMs: number): Recorded {
  const { config, synced } = session
  return {
    ...readHealth(session, now, quietMs),
    latest: latestPictures(config, synced, LATEST_SHOWN),
    held: listToDecide(config, synced, undefined, now, HELD_SHOWN).slice(0, HELD_SHOWN),
  }
}

function readHealth({ config, synced }: Session, now: number, quietMs: number) {
  const status = statusOf(config, synced, true, now)
  return { status, alerts: healthOf(status, config, now, quietMs).alerts }
}

/** How many paths the page lists that are left out. */
const LEFT_OUT_SHOWN = 1000

/** What is left out of the mirror with this index in the config. The disk is asked anew. Null: there is no such mirror. */
export async function readLeftOut({ config, synced }: Session, index: number): Promise<LeftOutList | null> {
  const mirror = config.mirrors[index]
  const row = mirror && synced.mirrors.of(mirror.folder)
  if (!row) return null
  const paths: LeftOutList['paths'] = []
  for (const path of synced.folders.withLeftOut(row.id)) {
    for (const left of leftOutBelow(realDisk, { mirror, path }, false))
      if (left.kind === 'left_out' && left.why !== 'ignore_file')
        paths.push({ path: left.at, reason: inWords(left.reason) })
    if (paths.length >= LEFT_OUT_SHOWN) break
    // The daemon has other work between two folders.
    await setImmediate()
  }
  return {
    folder: mirror.folder,
    paths: paths.slice(0, LEFT_OUT_SHOWN),
    isCut: paths.length >= LEFT_OUT_SHOWN,
  }
}

/** What `/healthz` tells. `now` and `quietMs`: as for readRecorded. */
export function readAlerts(daemon: DaemonView | null, now: number, quietMs: number): Alert[] {
  const problem = daemon?.problem() ?? null
  if (problem !== null) return [problem]
  try {
    if (daemon === null) return []
    const { session } = daemon.queue
    if (session) return readHealth(session, now, quietMs).alerts
    // Between two sessions the records are read as `albumd status` reads them.
    const config = daemon.config()
    return healthOf(readStatus(config, now), config, now, quietMs).alerts
  } catch (error) {
    return [waitsAlert('STATE', (error as Error).message)]
  }
}
