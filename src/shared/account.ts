import { randomBytes } from 'node:crypto'
import { HOUR_MS, type SteadyClock } from '../protocol/clock.ts'
import type { Endpoint } from '../protocol/endpoints.ts'
import { beat, type Machine, type MachineFacts } from './machines.ts'
import { openRedis } from './redis-store.ts'
import { type OwnWindow, SharedWindow, type WindowOptions } from './shared-window.ts'
import { keyPrefix, type Store, script } from './store.ts'
import { StoreClock } from './store-clock.ts'

export type SharedAccount = ReturnType<typeof openAccount>

export interface Named {
  id: string
  name: string
}

export interface AccountOptions {
  machine: Named
  /** The part of each rate that this machine uses while the store is away. */
  share: number
  /** How many credentials the host has issued to this machine today, which its first beat tells the others. */
  usedToday: number
  clock: SteadyClock
}

interface Whereabouts {
  url: string
  password: string | null
  ca: string | null
  baseUrl: string
  apiKey: string
  clock: SteadyClock
}

export interface SharedOptions extends AccountOptions, Whereabouts {}

/** Opens what the machines share. Does not wait for the store. */
export function openShared(options: SharedOptions): SharedAccount {
  return openAccount(openStore(options, `machines:${options.machine.id}`), options)
}

function openStore({ baseUrl, apiKey, clock, ...where }: Whereabouts, presence?: string): Store {
  const { url, password, ca } = where
  const prefix = keyPrefix(baseUrl, apiKey)
  return openRedis({
    url,
    password,
    ca,
    prefix,
    name: 'albumd',
    now: clock.monotonic,
    ...(presence !== undefined && { presence }),
  })
}

/** Shares the rates with a process that is no machine. The machines do not see it. Without a place it has no part of the rate. */
export function openGuest(options: Whereabouts & { share: AccountOptions['share'] }) {
  const { share, clock } = options
  const store = openStore(options)
  const ended = new AbortController()
  let lastAnswer = clock.monotonic()
  const beats = beatOn(store, clock, ended.signal, async () => {
    const answer = await store.run(HERE, [], [])
    if (answer.ok) lastAnswer = clock.monotonic()
  })
  const { windows, windowOf } = openWindows({
    store,
    machine: `guest-${randomBytes(6).toString('base64url')}`,
    clock,
    storeClock: new StoreClock(),
    share,
    lastAnswer: () => lastAnswer,
    lastStop: () => beats.lastStop(),
    refusals() {},
    ended: ended.signal,
  })
  return {
    windowOf,
    async close() {
      ended.abort()
      if (!store.away()) await Promise.all(windows.map(window => window.flush()))
      await store.close()
      await beats.over
    },
  }
}

/** A script that only shows that the store answers. */
const HERE = script('return 1')

/** Asks the store again and again, at once when it is back. `lastStop`: when the process began, or went on after a stop. */
function beatOn(store: Store, clock: SteadyClock, ended: AbortSignal, beat: () => Promise<void>) {
  let pause = new AbortController()
  store.onReady(() => pause.abort())
  let lastBeat = clock.monotonic()
  let stoppedUntil = lastBeat
  const lastStop = () => {
    const now = clock.monotonic()
    if (now - lastBeat > STOPPED_MS) stoppedUntil = now
    return stoppedUntil
  }
  const beating = async () => {
    while (!ended.aborted) {
      lastStop()
      lastBeat = clock.monotonic()
      await beat()
      pause = new AbortController()
      await clock.sleep(BEAT_MS, AbortSignal.any([ended, pause.signal]))
    }
  }
  return { over: beating(), lastStop }
}

function openWindows(options: Omit<WindowOptions, 'newId'>) {
  const windows: SharedWindow[] = []
  // A random part of the ids of places, which differ so from those of other processes.
  const process = randomBytes(6).toString('base64url')
  let ids = 0
  /** The rate window that the machines share. `own`: the window that this machine would have alone. */
  const windowOf = (endpoint: Endpoint, limit: number, own: OwnWindow) => {
    const window = new SharedWindow(endpoint, limit, own, { ...options, newId: () => `${process}${ids++}` })
    windows.push(window)
    return window
  }
  return { windows, windowOf }
}

const BEAT_MS = 1000
/** A store that has not answered for so long may have missed a beat of this machine. */
const MISSED_MS = 1500
/** Beats that are so far apart show that the process was stopped between them (SIGSTOP). */
const STOPPED_MS = 3000

export function openAccount(store: Store, { machine, share, usedToday, clock }: AccountOptions) {
  const ended = new AbortController()
  const storeClock = new StoreClock()
  const { id, name } = machine
  const facts: MachineFacts = { name, share, alone: false, usedToday, albums: [] }
  let machines: readonly Machine[] = []
  let lastAnswer = clock.monotonic()
  /** How many refusals this machine knows of. Null: the answer to a refusal of its own is about to tell it. */
  let refusals: number | null = 0
  let heard: ((refusal: Refusal) => void) | null = null
  const refused = async (resumesInMs: number | null) => {
    const before = refusals
    refusals = null
    refusals = (await tellRefusal(store, resumesInMs)) ?? before
  }
  const hearRefusals = async (count: number) => {
    const isNews = refusals !== null && count > refusals
    // The store counts anew after a loss, so the count may be smaller.
    if (refusals !== null) refusals = count
    const refusal = isNews ? await lastRefusal(store) : null
    if (refusal) heard?.(refusal)
  }
  const { windows, windowOf } = openWindows({
    store,
    machine: id,
    clock,
    storeClock,
    share,
    lastAnswer: () => lastAnswer,
    lastStop: () => beats.lastStop(),
    refusals: count => void hearRefusals(count),
    ended: ended.signal,
  })
  let told: (() => Promise<void>) | null = null

  const tell = async () => {
    const sent = clock.monotonic()
    facts.alone = sent - lastAnswer > MISSED_MS || windows.some(window => window.wasAlone(sent))
    const answer = await beat(store, id, facts)
    if (answer === null) return
    lastAnswer = clock.monotonic()
    storeClock.learn(sent, lastAnswer, answer.now)
    machines = answer.machines
  }
  const beats = beatOn(store, clock, ended.signal, async () => {
    await tell()
    void told?.()
  })
  const machinesNow = () => {
    const sinceMs = clock.monotonic() - lastAnswer
    return machines.map(each => ({ ...each, seenMs: each.seenMs + sinceMs }))
  }
  /** Whether the store knows all that was sent. What was just sent without it counts until it finds the machine gone. */
  const isAllTold = () => !store.away() && !windows.some(window => window.wasAlone(clock.monotonic()))
  return {
    machine,
    store,
    /** Why the store can't be used, or null. */
    away: store.away,
    /** The machines of the account, as the store last told them. `seenMs` includes the time since then. */
    machines: machinesNow,
    windowOf,
    /** The other machines, for this machine's quota (OtherMachines). */
    others: {
      used: (ms: number) =>
        machinesNow()
          .filter(each => each.id !== id && each.seenMs < ms)
          .reduce((sum, { facts }) => sum + facts.usedToday, 0),
      refused: (resumesInMs: number | null) => void refused(resumesInMs),
      grantedAgain: () => void forgetRefusal(store),
      granted(today: number) {
        facts.usedToday = today
      },
    },
    /** `listener`: called after each try to reach the store. `close` waits for its promise. */
    onBeat(listener: () => Promise<void>) {
      told = listener
    },
    /** Tells the others which albums this machine has, as paths on the host. */
    tellAlbums(albums: string[]) {
      facts.albums = albums
    },
    /** `listener`: called when the host has refused another machine for the quota. */
    onRefused(listener: (refusal: Refusal) => void) {
      heard = listener
    },
    async close() {
      ended.abort()
      // Closes a store that is away at once, which ends the questions under way. Nobody waits for them.
      if (store.away()) await store.close()
      await beats.over
      if (isAllTold()) {
        facts.share = null
        await tell()
        await told?.()
      }
      await store.close()
    },
  }
}

/** For how long machines that start are told a refusal: more than a day, because some days have 25 hours. */
const TOLD_MS = 26 * HOUR_MS

/** Notes a refusal, which the others see with their next place. KEYS: rate. ARGV: in how many ms there is quota again, or ''. */
const REFUSE = script(`
local resumes = 0
if ARGV[1] ~= '' then resumes = now + ARGV[1] end
redis.call('HSET', KEYS[1], 'refused', now, 'resumes', resumes)
redis.call('PEXPIRE', KEYS[1], 604800000)
return redis.call('HINCRBY', KEYS[1], 'refusals', 1)
`)

/** Returns how long ago the last refusal was, and in how many ms there is quota again, or 0. KEYS: rate. */
const LAST = script(`
local told = redis.call('HMGET', KEYS[1], 'refused', 'resumes')
return { now - (told[1] or 0), math.max(0, (told[2] or 0) - now) }
`)

/** Forgets the last refusal, so that machines that start are not told it. KEYS: rate. */
const FORGET = script("return redis.call('HDEL', KEYS[1], 'refused', 'resumes')")

/** The host has refused another machine for the quota. */
export interface Refusal {
  /** In how many milliseconds there is quota again, as the host said; null: it did not say. */
  resumesInMs: number | null
}

/** Tells the other machines that the host has refused this machine for the quota. Returns the number of this refusal. */
export async function tellRefusal(store: Store, resumesInMs: number | null): Promise<number | null> {
  const answer = await store.run(REFUSE, ['rate'], [resumesInMs === null ? '' : Math.round(resumesInMs)])
  return answer.ok ? (answer.value as number) : null
}

/** The last refusal of a machine. Null: it concerns another day, there was none, or the store is away. */
export async function lastRefusal(store: Store): Promise<Refusal | null> {
  const answer = await store.run(LAST, ['rate'], [])
  if (!answer.ok) return null
  const [agoMs, resumesMs] = answer.value as [number, number]
  return agoMs > TOLD_MS ? null : { resumesInMs: resumesMs === 0 ? null : resumesMs }
}

export async function forgetRefusal(store: Store): Promise<void> {
  await store.run(FORGET, ['rate'], [])
}
