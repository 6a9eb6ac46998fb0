import type { Desk } from '../daemon/display.ts'
import { listHeld } from '../daemon/held-deletions.ts'
import { type LatestPicture, latestPictures } from '../daemon/latest-pictures.ts'
import { healthOf, type Trouble } from '../daemon/notify/trouble.ts'
import { type Status, statusOf } from '../daemon/status.ts'
import type { LogLine } from './log-tail.ts'
import type { UnderWay } from './under-way.ts'
import type { Wish } from './wishes.ts'

/** A picture that is not as it should be. */
export interface Failure {
  /** The mirror's folder, and the path below it. */
  mirror: string
  path: string
  code: string
  message: string
  /** Milliseconds since 1970; null: not before the file changes. */
  next_attempt_at: number | null
}

/** An image that waits for a person's word. */
export interface Held {
  mirror: string
  path: string
  reason: string
  /** ISO 8601. */
  since: string
}

/** What is recorded, as the page shows it. */
export interface Recorded {
  status: Status
  troubles: Trouble[]
  latest: LatestPicture[]
  failures: Failure[]
  held: Held[]
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
  wishes: readonly Wish[]
  log: LogLine[]
}

const LATEST_SHOWN = 12
/** Of failures and held deletions each; the counts tell of the others. */
const ROWS_SHOWN = 50

/** Null where the state is not open. `now`: milliseconds since 1970. `quietMs`: since albumd's last sign of life. */
export function readRecorded({ errands }: Desk, now: number, quietMs: number): Recorded | null {
  const { workplace } = errands
  if (workplace === null) return null
  const { config, synced } = workplace
  const status = statusOf(config, synced, true, now)
  const folders = new Map(config.mirrors.map(({ folder }) => [synced.mirrors.of(folder)?.id, folder]))
  const held = status.mirrors.some(({ held_deletions }) => held_deletions > 0) ? listHeld(config, synced) : []
  return {
    status,
    troubles: healthOf(status, config.notify.max_age, now, quietMs).troubles,
    latest: latestPictures(config, synced, LATEST_SHOWN),
    failures: synced.summaries.failures(ROWS_SHOWN).flatMap(({ mirror, ...failure }) => {
      const folder = folders.get(mirror)
      return folder === undefined ? [] : [{ ...failure, mirror: folder }]
    }),
    held: held
      .slice(0, ROWS_SHOWN)
      .map(({ mirror, path, reason, since }) => ({ mirror, path, reason, since })),
  }
}
