import { readFileSync } from 'node:fs'
import type { Clock } from '../../protocol/clock.ts'
import { remedyOfCode } from '../../remote/failures.ts'
import type { AskedWait } from '../../remote/gate/gate.ts'
import type { EarlierRequests } from '../../remote/gate/rate-window.ts'
import type { Block } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import { orNull } from '../or-null.ts'

/** When the last process sent its requests, by the boot's monotonic clock. Null: so long ago that none counts for the rate. `now`
 * after an unclean end, when nobody knows: the process has lost its lock and sends nothing more. */
export function earlierRequests(synced: Synced, now: number): EarlierRequests {
  const quiet = synced.meta.get('quiet_since')
  if (quiet === null) return synced.meta.get('base_url') === null ? null : now
  const [boot, since] = quiet.split(' ')
  return boot === bootId() && since ? JSON.parse(since) : null
}

/** Called before the first request: whoever opens the state after a crash must know that some were sent. */
export function startRequests(tx: Tx): void {
  tx.meta.clear('quiet_since')
}

/** Records that no more requests will be sent. `sent`: what the next process must count. Where none was, nothing new is. */
export function endRequests(tx: Tx, sent: EarlierRequests): void {
  if (tx.meta.get('quiet_since') === null) tx.meta.set('quiet_since', `${bootId()} ${JSON.stringify(sent)}`)
}

/** The id of the machine's boot. A constant where the system has none. */
export function bootId(): string {
  return orNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? 'unknown'
}

/** The blocks that the host gave the last process, so that restarts do not ask more often. None under another plan. A refused key
 * is tried at once: see `openGate`. */
export function blocksBefore({ account, meta }: Synced, plan: string, clock: Clock): Block[] {
  if (meta.get('plan') !== plan) return []
  return account.blocks().flatMap(({ endpoint, code, message, said_at }) => {
    const remedy = remedyOfCode(code)
    const age = clock.wall() - said_at
    // The clock was set back. By that clock the block would last too long.
    if (!remedy || age < 0) return []
    return { endpoint: endpoint as Block['endpoint'], remedy, code, message, since: clock.monotonic() - age }
  })
}

/** Records that the host asked for a long wait, which holds for the next process too. */
export function noteWait(tx: Tx, { failure, until }: AskedWait): void {
  const { endpoint, code, message, status = null, retryAfterMs: ms = 0 } = failure
  const wait = { endpoint, code, message, status, ms, until }
  tx.meta.set('asked_waits', { ...tx.meta.get('asked_waits'), [endpoint]: wait })
}

export function waitsBefore({ meta }: Synced): AskedWait[] {
  return Object.values(meta.get('asked_waits') ?? {}).map(({ endpoint, status, ms, until, ...said }) => ({
    failure: {
      ...said,
      remedy: 'later',
      endpoint: endpoint as Block['endpoint'],
      retryAfterMs: ms,
      ...(status !== null && { status }),
    },
    until,
  }))
}
