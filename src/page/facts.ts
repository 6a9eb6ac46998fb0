import { healthOf, type Trouble } from '../daemon/notify/trouble.ts'
import type { Desk } from '../daemon/report/display.ts'
import { firstHeld, type HeldDeletion } from '../daemon/report/held-deletions.ts'
import { type LatestPicture, latestPictures } from '../daemon/report/latest-pictures.ts'
import { type Status, statusOf } from '../daemon/report/status.ts'
import type { LogLine } from './log-tail.ts'
import type { UnderWay } from './under-way.ts'
import type { Wish } from './wishes.ts'

/** What is recorded, as the page shows it. */
export interface Recorded {
  status: Status
  troubles: Trouble[]
  latest: LatestPicture[]
  held: HeldDeletion[]
}

/** All that the page shows. */
export interface Facts {
  /** Null: the state is not open. */
  recorded: Recorded | null
  /** What keeps albumd from its state. */
  stateTrouble: string | null
  underWay: UnderWay[]
  /** Bytes a second. */
  rate: number
  wishes: Wish[]
  log: LogLine[]
}

const LATEST_SHOWN = 12
/** The counts tell of the others. */
const HELD_SHOWN = 50

/** Null where the state is not open. `now`: milliseconds since 1970. `quietMs`: since albumd's last sign of life. */
export function readRecorded({ errands }: Desk, now: number, quietMs: number): Recorded | null {
  const { workplace } = errands
  if (workplace === null) return null
  const { config, synced } = workplace
  const status = statusOf(config, synced, true, now)
  return {
    status,
    troubles: healthOf(status, config.notify.max_age, now, quietMs).troubles,
    latest: latestPictures(config, synced, LATEST_SHOWN),
    held: firstHeld(config, synced, HELD_SHOWN),
  }
}
