import { Agent, request } from 'undici'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Bus } from '../events.ts'
import { statusOf } from '../report/status.ts'
import { type Health, healthOf } from './alert.ts'
import { Notifier } from './notifier.ts'
import { childEnvironment, runCommand } from './run-command.ts'

/**
 * After one of these events the health may have changed. Before the first of them the records are those of the run
 * before, so the health is not looked at.
 */
const NEWS: ReadonlySet<SpokenEvent['event']> = new Set([
  'mirror_guarded',
  'uploads_started',
  'uploads_stopped',
  'picture_failed',
  'deletions_held',
])

/**
 * Shows the notifier how the daemon is, while it works with one state and one config. Answers a function that ends that.
 */
export function watchHealth(
  bus: Bus,
  notifier: Notifier,
  config: Config,
  synced: Synced,
  clock: Clock,
): () => void {
  const { meta } = synced
  const { notify } = config
  let aliveAt = clock.monotonic()
  let shown = false
  const look = () => {
    const now = clock.wall()
    return healthOf(statusOf(config, synced, true, now), notify.max_age, now, clock.monotonic() - aliveAt)
  }
  const onNews = () => {
    if (shown) return notifier.nudge()
    shown = true
    const told = {
      get: () => meta.get('trouble_told'),
      set: (keys: string) => synced.commitNow(tx => tx.meta.set('trouble_told', keys)),
    }
    notifier.lookAt(look, { notify, told })
  }
  const unsubscribe = [
    bus.on('alive', () => {
      aliveAt = clock.monotonic()
    }),
    bus.on('news', told => {
      if (NEWS.has(told.event)) onNews()
    }),
    bus.on('passEnded', onNews),
  ]
  return () => {
    for (const end of unsubscribe) end()
  }
}

export function openNotifier({ notify }: Pick<Config, 'notify'>, clock: Clock, note: Bus['note']): Notifier {
  return new Notifier({
    notify,
    clock,
    note,
    beat: sendHeartbeat,
    runCommand: (command, said, stop) =>
      runCommand(command, { ...childEnvironment(process.env), ...said }, stop),
  })
}

/** What keeps the daemon from its state. */
export function stateProblem(line: string): () => Health {
  return () => ({ alerts: [{ key: 'STATE', code: 'STATE', message: line }], oldestUnsyncedMs: 0 })
}

const HEARTBEAT_TIMEOUT_MS = 10_000

/**
 * Sends one GET request to the address, with `oldest_unsynced`: how long the oldest picture has waited, in seconds.
 * Answers what went wrong in one line, without the address, because the address is a secret. Null: the heartbeat
 * arrived.
 */
export async function sendHeartbeat(
  address: string,
  oldestUnsyncedMs: number,
  stop: AbortSignal,
  timeoutMs: number = HEARTBEAT_TIMEOUT_MS,
): Promise<string | null> {
  const url = new URL(address)
  url.searchParams.set('oldest_unsynced', String(Math.floor(oldestUnsyncedMs / 1000)))
  const dispatcher = new Agent({ connections: 1 })
  const ended = AbortSignal.timeout(timeoutMs)
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      headers: { 'user-agent': 'albumd' },
      signal: AbortSignal.any([stop, ended]),
    })
    body.on('error', () => {})
    if (statusCode >= 200 && statusCode < 300) return null
    return statusCode < 400
      ? `it was redirected (${statusCode}); write the address that it leads to`
      : `the answer was ${statusCode}`
  } catch (error) {
    if (ended.aborted) return `no answer within ${timeoutMs / 1000} s`
    const { code } = error as { code?: unknown }
    return typeof code === 'string' ? code : 'it could not be sent'
  } finally {
    await dispatcher.destroy()
  }
}
