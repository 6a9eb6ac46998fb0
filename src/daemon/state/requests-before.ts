import { readFileSync } from 'node:fs'
import type { Endpoint } from '../../protocol/endpoints.ts'
import type { RateLedger } from '../../remote/gate/gate.ts'
import type { Synced, Tx } from '../../synced/synced.ts'

/**
 * When the last process to have this state can have sent its last request: milliseconds of the monotonic clock, which
 * all processes of one boot share. Null: not within the last boot, so no limit of a second can still hold.
 *
 * A clean end leaves the time behind. After any other end it is now: we have the state's lock, so it is over. A state
 * that was never used has sent nothing.
 */
export function lastRequestBefore(synced: Synced, now: number): number | null {
  const quiet = synced.meta.get('quiet_since')
  if (quiet === null) return synced.meta.get('base_url') === null ? null : now
  const [boot, since] = quiet.split(' ')
  return boot === bootId() ? Number(since) : null
}

/** Every window as full as it can have been then; within this process the gate remembers by itself. */
export function ledgerAfter(
  lastRequest: number | null,
  requestsPerSecond: Record<Endpoint, number>,
): RateLedger {
  return {
    load(endpoint) {
      const most = requestsPerSecond[endpoint]
      return lastRequest === null || most === Number.POSITIVE_INFINITY ? [] : Array(most).fill(lastRequest)
    },
    record() {},
  }
}

/** From here on requests may be sent. */
export function startRequests(tx: Tx): void {
  tx.meta.clear('quiet_since')
}

/** No request will be sent any more. */
export function endRequests(tx: Tx, now: number): void {
  tx.meta.set('quiet_since', `${bootId()} ${now}`)
}

/** Of the machine's boot; one constant where the system tells none. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
