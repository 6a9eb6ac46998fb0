import type { Config } from '../../config/schema.ts'
import type { SharedAccount } from '../../shared/account.ts'
import type { Committer, MetaReads } from '../../synced/synced.ts'
import { inWords } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import type { Bus } from '../events.ts'

/** A machine that shares the account, in `status --json`. */
export interface MachineStatus {
  name: string
  /** Whether this is the machine that answers. */
  is_this: boolean
  /** works: heard of now. ended: it said so. silent: cut off, suspended or gone. unknown: the store is away. */
  state: 'works' | 'ended' | 'silent' | 'unknown'
  /** When the store last heard of it: ISO 8601. */
  seen: string
  /** The albums that the machine has, as paths on the host. */
  albums: string[]
  /** How many credentials the host has issued to it today. */
  used_today: number
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

const RECORD_MS = 10_000
const AWAY_MS = 5000
const SILENT_MS = 10_000

export function recordMachines(
  shared: SharedAccount,
  { commit }: Committer,
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
    const machines = shared.machines().map(
      ({ id, seenMs, facts }) =>
        ({
          name: facts.name,
          is_this: id === shared.machine.id,
          state: stateOf(facts.share, seenMs, id === shared.machine.id, away !== null),
          seen: Math.round(now - seenMs),
          albums: facts.albums,
          used_today: facts.usedToday,
        }) as const,
    )
    const ofEach = machines.map(({ name, albums, state }) => [name, albums, state])
    const what = JSON.stringify([away?.reason ?? null, ofEach])
    if (what === recorded.what && Math.abs(now - recorded.at) < RECORD_MS) return
    recorded = { what, at: now }
    // A failure is ignored: when the state has failed, the pass fails too.
    await commit(tx => {
      const since = tx.meta.get('account_machines')?.away?.since ?? now
      const told = away && { reason: away.reason, since }
      tx.meta.set('account_machines', { away: told, machines })
    }).catch(() => {})
  })
}

/** `share`: of the rate; null when the machine said that it ends. `isAway`: the store is away, so nobody is heard of. */
function stateOf(
  share: number | null,
  seenMs: number,
  isThis: boolean,
  isAway: boolean,
): MachineStatus['state'] {
  if (share === null) return 'ended'
  if (isThis || seenMs <= SILENT_MS) return 'works'
  return isAway ? 'unknown' : 'silent'
}

export function accountStatus({ account }: Config, { meta }: MetaReads, running: boolean): AccountStatus {
  const told = account.shared === undefined ? null : meta.get('account_machines')
  const away = told?.away ?? null
  // What the machine last told may be older than the loss of its albums.
  const hasNone = meta.get('album_taken') !== null
  return {
    store:
      told && running
        ? { away: away && { since: isoTime(away.since), message: inWords(away.reason) } }
        : null,
    machines: (told?.machines ?? []).map(({ seen, ...machine }) => ({
      ...machine,
      albums: hasNone && machine.is_this ? [] : machine.albums,
      seen: isoTime(seen),
    })),
  }
}

/** How many credentials the host has issued to other machines. Machines that were not seen after `since` do not count. */
export function usedByOthers(config: Config, synced: MetaReads, since: number): number {
  return accountStatus(config, synced, true)
    .machines.filter(({ is_this, seen }) => !is_this && Date.parse(seen) > since)
    .reduce((sum, { used_today }) => sum + used_today, 0)
}
