import { beat, type Machine, type MachineFacts } from './machines.ts'
import { openRedis } from './redis-store.ts'
import { type Away, keyPrefix, type Store } from './store.ts'

/** What the machines of one account share. */
export interface SharedAccount {
  /** The name of this machine. */
  readonly machine: string
  readonly store: Store
  /** Why the store can't be used, or null. */
  away(): Away | null
  /** The machines of the account, as the store last told. */
  machines(): readonly Machine[]
  close(): Promise<void>
}

interface Clock {
  /** Milliseconds of a monotonic clock. */
  now(): number
  /** Resolves after this time, or when `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export interface SharedOptions {
  url: string
  password: string | null
  ca: string | null
  machine: string
  baseUrl: string
  apiKey: string
  clock: Clock
}

/** Opens what the machines share, without waiting for the store. */
export function openShared({ machine, baseUrl, apiKey, clock, ...access }: SharedOptions): SharedAccount {
  const prefix = keyPrefix(baseUrl, apiKey)
  return openAccount(openRedis({ ...access, prefix, name: 'albumd', now: clock.now }), machine, clock)
}

/** How often a machine tells that it is there. */
const BEAT_MS = 1000

/** What the machines share through this store. */
export function openAccount(store: Store, machine: string, clock: Clock): SharedAccount {
  const ended = new AbortController()
  const facts: MachineFacts = { rate: 0, usedToday: 0, albums: [] }
  let machines: readonly Machine[] = []
  const beating = async () => {
    while (!ended.signal.aborted) {
      machines = (await beat(store, machine, facts)) ?? machines
      await clock.sleep(BEAT_MS, ended.signal)
    }
  }
  const beats = beating()
  return {
    machine,
    store,
    away: store.away,
    machines: () => machines,
    async close() {
      ended.abort()
      await beats
      await store.close()
    },
  }
}
