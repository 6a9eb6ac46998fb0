import { healthOf } from '../daemon/notify/trouble.ts'
import type { Desk } from '../daemon/report/display.ts'
import { statusOf } from '../daemon/report/status.ts'

/** What `/healthz` answers. */
export interface Health {
  /** Whether nothing needs a person. */
  well: boolean
  /** Text, a line each. Only codes for those who may not see more: what is wrong names files. */
  text(mayRead: boolean): string
}

/** `now`: milliseconds since 1970. `quietMs`: since albumd's last sign of life. */
export function readHealth(desk: Desk | null, now: number, quietMs: number): Health {
  const troubles = troublesOf(desk, now, quietMs)
  return {
    well: troubles.length === 0,
    text: mayRead =>
      troubles.length === 0
        ? 'ok\n'
        : troubles
            .map(({ code, message }) => `${mayRead ? `${code}: ${message.replace(/\p{C}/gu, '?')}` : code}\n`)
            .join(''),
  }
}

function troublesOf(desk: Desk | null, now: number, quietMs: number): { code: string; message: string }[] {
  const trouble = desk?.trouble() ?? null
  if (trouble !== null) return [{ code: 'STATE', message: trouble }]
  const workplace = desk?.errands.workplace ?? null
  if (workplace === null) return []
  const { config, synced } = workplace
  try {
    return healthOf(statusOf(config, synced, true, now), config.notify.max_age, now, quietMs).troubles
  } catch (error) {
    return [{ code: 'STATE', message: (error as Error).message }]
  }
}
