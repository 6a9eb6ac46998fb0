import { listToDecide, type PendingDeletion } from '../daemon/commands/deletions.ts'
import type { Session } from '../daemon/commands/queue.ts'
import type { DaemonView } from '../daemon/loop/supervisor.ts'
import { type Alert, healthOf, waitsAlert } from '../daemon/notify/health.ts'
import { type LatestPicture, latestPictures } from '../daemon/report/mirrored-pictures.ts'
import { readStatus, type Status, statusOf } from '../daemon/report/status.ts'
import type { Millis } from '../protocol/clock.ts'
import type { PageCommand } from './commands.ts'
import type { UnderWay, UploadRate } from './under-way.ts'

export interface Recorded {
  status: Status
  alerts: Alert[]
  latest: LatestPicture[]
  held: PendingDeletion[]
}

export interface Facts {
  /** Null: the state is not open. */
  recorded: Recorded | null
  /** What keeps albumd from its work. Null: nothing does. */
  problem: Alert | null
  underWay: UnderWay[]
  rate: UploadRate
  commands: PageCommand[]
}

const LATEST_SHOWN = 12
/** How many deletions that a person may decide about the page groups by folder. Further deletions are only counted. */
const HELD_SHOWN = 1000

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
