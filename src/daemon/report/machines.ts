import type { Config } from '../../config/schema.ts'
import type { SharedAccount } from '../../shared/account.ts'
import type { Synced } from '../../synced/synced.ts'
import { inWords } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import type { Bus } from '../events.ts'

/** A machine that shares the account, in `status --json`. */
export interface MachineStatus {
  name: string
  /** Whether this is the machine that tells. */
  is_this: boolean
  /** When the store last heard of it: ISO 8601. */
  seen: string
  /** The albums that the machine has, as paths on the host. */
  albums: string[]
  /** How many credentials the host has issued to it today. */
  used_today: number
  /** Its requests in the last second, at all endpoints. */
  rate: number
}

/** The store that the machines share, in `status --json`. `away`: why it can't be used. Null: it answers. */
export interface StoreStatus {
  away: { since: string; message: string } | null
}

export interface AccountStatus {
  /** Null: the config names no store, or no daemon runs that could tell. */
  store: StoreStatus | null
  machines: MachineStatus[]
}

/** How often what the machines tell is recorded, where nothing else has changed. */
const RECORD_MS = 10_000
/** A store that is away for a shorter time is not worth a line of the log. */
const AWAY_MS = 5000

/**
 * Records what the machines tell, for `status`, doctor, page and metrics, and notes when the store is away for some
 * seconds, and when it is back. `wall`: milliseconds since 1970.
 */
export function recordMachines(
  shared: SharedAccount,
  { commit }: Pick<Synced, 'commit'>,
  wall: () => number,
  note: Bus['note'],
) {
  let recorded = { what: '', at: Number.NEGATIVE_INFINITY }
  let awaySince: number | null = null
  let isNoted = false
  shared.onBeat(async () => {
    const now = wall()
    const away = shared.away()
    if (!away) {
      if (isNoted) note({ event: 'store_answers' })
      isNoted = false
      awaySince = null
    } else if (!isNoted) {
      awaySince ??= now
      isNoted = now - awaySince >= AWAY_MS
      if (isNoted) note({ event: 'store_away', message: inWords(away.reason) })
    }
    const machines = shared.machines()
    const ofEach = machines.map(({ name, facts: { albums, share } }) => [name, albums, share])
    const what = JSON.stringify([away?.reason ?? null, ofEach])
    if (what === recorded.what && Math.abs(now - recorded.at) < RECORD_MS) return
    recorded = { what, at: now }
    const rows = machines.map(({ name, seenMs, facts: { albums, usedToday, rate } }) => {
      return { name, seen: Math.round(now - seenMs), albums, used_today: usedToday, rate }
    })
    // When the state has failed, the pass fails too.
    await commit(tx => {
      const since = tx.meta.get('machines')?.away?.since ?? now
      const told = away && { reason: away.reason, since }
      tx.meta.set('machines', { away: told, machines: rows })
    }).catch(() => {})
  })
}

/** What was recorded of the machines. `running`: whether a daemon has the state open. */
export function accountStatus(
  { account }: Pick<Config, 'account'>,
  { meta }: Pick<Synced, 'meta'>,
  running: boolean,
): AccountStatus {
  const told = account.shared === undefined ? null : meta.get('machines')
  const away = told?.away ?? null
  return {
    store:
      told && running
        ? { away: away && { since: isoTime(away.since), message: inWords(away.reason) } }
        : null,
    machines: (told?.machines ?? []).map(({ seen, ...machine }) => ({
      ...machine,
      is_this: machine.name === account.machine,
      seen: isoTime(seen),
    })),
  }
}

/** How many credentials the host has issued to the other machines, by machines that were seen after `since`. */
export function usedByOthers(
  config: Pick<Config, 'account'>,
  synced: Pick<Synced, 'meta'>,
  since: number,
): number {
  return accountStatus(config, synced, true)
    .machines.filter(({ is_this, seen }) => !is_this && Date.parse(seen) > since)
    .reduce((sum, { used_today }) => sum + used_today, 0)
}
