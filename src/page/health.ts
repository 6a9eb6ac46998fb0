import type { DaemonView } from '../daemon/loop/supervisor.ts'
import { healthOf } from '../daemon/notify/alert.ts'
import { statusOf } from '../daemon/report/status.ts'

/** What `/healthz` answers. */
export interface Health {
  /** Whether nothing needs a person. */
  well: boolean
  /** Text, a line each. Only codes for those who may not see more: what is wrong names files. */
  text(mayRead: boolean): string
}

/** `now`: milliseconds since 1970. `quietMs`: since albumd's last sign of life. */
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
  const trouble = daemon?.problem() ?? null
  if (trouble !== null) return [{ code: 'STATE', message: trouble }]
  const session = daemon?.queue.session ?? null
  if (session === null) return []
  const { config, synced } = session
  try {
    return healthOf(statusOf(config, synced, true, now), config.notify.max_age, now, quietMs).alerts
  } catch (error) {
    return [{ code: 'STATE', message: (error as Error).message }]
  }
}
