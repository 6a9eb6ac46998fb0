import type { DaemonView } from '../daemon/loop/supervisor.ts'
import { type Alert, healthOf } from '../daemon/notify/alert.ts'
import { firstHeld, type HeldDeletion } from '../daemon/report/held-deletions.ts'
import { type LatestPicture, latestPictures } from '../daemon/report/latest-pictures.ts'
import { type Status, statusOf } from '../daemon/report/status.ts'
import type { PageCommand } from './commands.ts'
import type { LogLine } from './log-tail.ts'
import type { UnderWay } from './under-way.ts'

/** What is recorded, as the page shows it. */
export interface Recorded {
  status: Status
  alerts: Alert[]
  latest: LatestPicture[]
  held: HeldDeletion[]
}

/** All that the page shows. */
export interface Facts {
  /** Null: the state is not open. */
  recorded: Recorded | null
  /** What keeps albumd from its state. */
  stateProblem: string | null
  underWay: UnderWay[]
  /** Bytes a second. */
  rate: number
  commands: PageCommand[]
  log: LogLine[]
}

const LATEST_SHOWN = 12
/** The counts tell of the others. */
const HELD_SHOWN = 50

/** Null where the state is not open. `now`: milliseconds since 1970. `quietMs`: since albumd's last sign of life. */
export function readRecorded({ queue }: DaemonView, now: number, quietMs: number): Recorded | null {
  const { session } = queue
  if (session === null) return null
  const { config, synced } = session
  const status = statusOf(config, synced, true, now)
  return {
    status,
    alerts: healthOf(status, config.notify.max_age, now, quietMs).alerts,
    latest: latestPictures(config, synced, LATEST_SHOWN),
    held: firstHeld(config, synced, HELD_SHOWN),
  }
}
