import { listHeld, type PendingDeletion } from '../daemon/commands/deletions.ts'
import type { Session } from '../daemon/commands/queue.ts'
import type { DaemonView } from '../daemon/loop/supervisor.ts'
import { type Alert, healthOf, stateAlert } from '../daemon/notify/health.ts'
import { type LatestPicture, latestPictures } from '../daemon/report/mirrored-pictures.ts'
import { type Status, statusOf } from '../daemon/report/status.ts'
import type { PageCommand } from './commands.ts'
import type { LogLine, UnderWay } from './heard.ts'

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
  /** Why the state can't be opened. Null: nothing keeps it closed. */
  stateProblem: string | null
  underWay: UnderWay[]
  /** Bytes uploaded per second. */
  rate: number
  commands: PageCommand[]
  log: LogLine[]
}

const LATEST_SHOWN = 12
/** How many held deletions the page lists. Further deletions are only counted. */
const HELD_SHOWN = 50

/** `now`: milliseconds since 1970. `quietMs`: time since albumd's last sign of life. */
export function readRecorded(session: Session, now: number, quietMs: number): Recorded {
  const { config, synced } = session
  return {
    ...readHealth(session, now, quietMs),
    latest: latestPictures(config, synced, LATEST_SHOWN),
    held: listHeld(config, synced, undefined, HELD_SHOWN).slice(0, HELD_SHOWN),
  }
}

function readHealth({ config, synced }: Session, now: number, quietMs: number) {
  const status = statusOf(config, synced, true, now)
  return { status, alerts: healthOf(status, config.notify.max_age, now, quietMs).alerts }
}

/** What `/healthz` tells. `now` and `quietMs`: as for readRecorded. */
export function readAlerts(daemon: DaemonView | null, now: number, quietMs: number): Alert[] {
  const problem = daemon?.problem() ?? null
  if (problem !== null) return [stateAlert(problem)]
  try {
    const session = daemon?.queue.session
    return session ? readHealth(session, now, quietMs).alerts : []
  } catch (error) {
    return [stateAlert((error as Error).message)]
  }
}
