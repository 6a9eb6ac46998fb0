import type { Session } from '../daemon/commands/queue.ts'
import type { DaemonView } from '../daemon/loop/supervisor.ts'
import { type Alert, healthOf, waitsAlert } from '../daemon/notify/health.ts'
import { type LatestPicture, latestPictures } from '../daemon/report/mirrored-pictures.ts'
import { readStatus, type Status, statusOf } from '../daemon/report/status.ts'
import type { Millis } from '../protocol/clock.ts'
import type { PageCommand } from './commands.ts'
import type { RecentLine } from './recent-log.ts'
import { readToDecide, type ToDecide } from './to-decide.ts'
import type { UnderWay, UploadRate } from './under-way.ts'

export interface Recorded {
  status: Status
  alerts: Alert[]
  latest: LatestPicture[]
  toDecide: ToDecide[]
}

export interface Facts {
  /** Null: the state is not open. */
  recorded: Recorded | null
  /** What keeps albumd from its work. Null: nothing. */
  problem: Alert | null
  underWay: UnderWay[]
  rate: UploadRate
  commands: PageCommand[]
  log: readonly RecentLine[]
}

const LATEST_SHOWN = 12

export function readRecorded(session: Session, now: Millis, quietMs: number): Recorded {
  const health = readHealth(session, now, quietMs)
  return {
    ...health,
    latest: latestPictures(session.config, session.synced, LATEST_SHOWN),
    toDecide: readToDecide(session, health.status.mirrors),
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
