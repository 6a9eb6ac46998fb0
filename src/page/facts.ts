import { type HeldDeletion, listHeld } from '../daemon/commands/deletions.ts'
import type { DaemonView } from '../daemon/loop/supervisor.ts'
import { type Alert, healthOf } from '../daemon/notify/health.ts'
import { type LatestPicture, latestPictures } from '../daemon/report/mirrored-pictures.ts'
import { type Status, statusOf } from '../daemon/report/status.ts'
import type { PageCommand } from './commands.ts'
import type { LogLine } from './log-tail.ts'
import type { UnderWay } from './under-way.ts'

/** The page's view of the records. */
export interface Recorded {
  status: Status
  alerts: Alert[]
  latest: LatestPicture[]
  held: HeldDeletion[]
}

/** Everything that the page shows. */
export interface Facts {
  /** Null: the state is not open. */
  recorded: Recorded | null
  /** Why the state can't be opened. Null: nothing keeps it closed. */
  stateProblem: string | null
  underWay: UnderWay[]
  /** Bytes uploaded in a second. */
  rate: number
  commands: PageCommand[]
  log: LogLine[]
}

const LATEST_SHOWN = 12
/** More held deletions show only in the counts. */
const HELD_SHOWN = 50

/** Null: the state is not open. `now`: milliseconds since 1970. `quietMs`: time since albumd's last sign of life. */
export function readRecorded({ queue }: DaemonView, now: number, quietMs: number): Recorded | null {
  const { session } = queue
  if (session === null) return null
  const { config, synced } = session
  const status = statusOf(config, synced, true, now)
  return {
    status,
    alerts: healthOf(status, config.notify.max_age, now, quietMs).alerts,
    latest: latestPictures(config, synced, LATEST_SHOWN),
    held: listHeld(config, synced, undefined, HELD_SHOWN).slice(0, HELD_SHOWN),
  }
}

/** The answer of `/healthz`. */
export interface Health {
  /** Whether there is no alert. */
  well: boolean
  /** One line for each alert. `mayRead` false: only the codes, because the messages name files. */
  text(mayRead: boolean): string
}

/** `now`: milliseconds since 1970. `quietMs`: time since albumd's last sign of life. */
export function readHealth(daemon: DaemonView | null, now: number, quietMs: number): Health {
  const alerts = alertsOf(daemon, now, quietMs)
  return {
    well: alerts.length === 0,
    text: mayRead =>
      alerts.length === 0
        ? 'ok\n'
        : alerts
            .map(({ code, message }) => `${mayRead ? `${code}: ${message.replace(/\p{C}/gu, '?')}` : code}\n`)
            .join(''),
  }
}

function alertsOf(
  daemon: DaemonView | null,
  now: number,
  quietMs: number,
): { code: string; message: string }[] {
  const problem = daemon?.problem() ?? null
  if (problem !== null) return [{ code: 'STATE', message: problem }]
  const session = daemon?.queue.session ?? null
  if (session === null) return []
  const { config, synced } = session
  try {
    return healthOf(statusOf(config, synced, true, now), config.notify.max_age, now, quietMs).alerts
  } catch (error) {
    return [{ code: 'STATE', message: (error as Error).message }]
  }
}
