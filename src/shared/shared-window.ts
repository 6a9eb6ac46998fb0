import type { SteadyClock } from '../protocol/clock.ts'
import type { Endpoint } from '../protocol/endpoints.ts'
import { LEAVES_MS, OPEN_MS, RATE } from './rate-script.ts'
import type { Store } from './store.ts'
import type { StoreClock } from './store-clock.ts'

interface Slot {
  isOver?(now: number): boolean
  /** `start` and `answered` return when the request can have arrived at the latest. */
  start(now: number): number
  answered(now: number): number
  release(): void
}

/** The rate window of a machine that is alone, as the gate knows it. It counts what this machine sends. */
export interface OwnWindow {
  recent(now: number): number[]
  waitMs(now: number): number
  take(): Slot
  adopt(limit: number): void
}

export interface WindowOptions {
  store: Store
  machine: string
  clock: SteadyClock
  storeClock: StoreClock
  /** The part of the rate that this machine uses while the store is away. */
  share: number
  lastAnswer(): number
  /** When the process last went on after a stop (SIGSTOP). It may have lost its part of the rate meanwhile. */
  lastStop(): number
  /** Called with how often the host has refused a machine of the account for the quota, as the store counts. */
  refusals(count: number): void
  /** Returns an id for a place that no other process uses. */
  newId(): string
  ended: AbortSignal
}

/** A machine whose store was silent for so long uses its own part of the rate. The others leave this part to a machine that
 * was silent for 2.5 s. A beat may have come 1.5 s after the last answer, places be used 0.5 s later, and count for 1 s. */
const SILENT_MS = 6000
/** For how long after its last request without the store a machine goes on saying that it was alone. Its reports have arrived by then. */
const ALONE_MS = 1500
/** How long a place waits for a request before it is given back. */
const UNUSED_MS = 250
/** How long reports wait for other reports and for the next question. */
const REPORT_MS = 15
/** How long a request waits before it looks again for a place, and whether the store is back. */
const LOOK_MS = 2
const LOOK_AWAY_MS = 25

interface Place {
  id: string
  at: number
}

/** An endpoint's rate window that machines share. The store hands out places, each with a time a little ahead, to requests that
 * wait. It is told when each request leaves and is answered. Without the store, the machine keeps to its part of the rate. */
export class SharedWindow {
  readonly #own: OwnWindow
  readonly #names: readonly string[]
  readonly #options: WindowOptions
  readonly #most: number
  #limit: number
  /** Places that were handed out and that no request has taken, the earliest first. */
  #places: Place[] = []
  #waiting = 0
  /** Arrivals and returned places of which the store is not told yet. */
  #reports = new Map<string, number | ''>()
  #taught: number | '' = ''
  #refused: number | '' = ''
  /** Places that the store may count although nothing was sent, because it was away when it had to be told; and since when. */
  #unsure = new Map<string, number>()
  #asking = false
  #askAgainAt = 0
  /** Whether this machine must tell the store what it has sent in the last second. */
  #wasAway = true
  /** Whether this machine has used its part without the store. */
  #wasAlone = false
  /** How many requests took a place without the store and still connect. The store can't be told of them. */
  #connecting = 0
  #lastAlone = Number.NEGATIVE_INFINITY
  /** When the next request may leave without the store, where the part is less than one a second. */
  #nextAt = 0

  readonly endpoint: Endpoint

  constructor(endpoint: Endpoint, limit: number, own: OwnWindow, options: WindowOptions) {
    this.endpoint = endpoint
    this.#own = own
    this.#most = limit
    this.#limit = limit
    this.#options = options
    const ofEndpoint = ['places', 'pending', 'line', 'polls', 'facts'].map(name => `${name}:${endpoint}`)
    this.#names = [...ofEndpoint, 'rate', 'machines']
  }

  recent(now: number): number[] {
    return this.#own.recent(now)
  }

  /** Whether requests left without the store so lately that it may not know of them. */
  wasAlone(now: number): boolean {
    return this.#connecting > 0 || now - this.#lastAlone < ALONE_MS
  }

  /** Notes that a request waits for a place. Returns a function that ends this. */
  enter(): () => void {
    this.#waiting++
    return () => {
      this.#waiting--
      for (const { id } of this.#places.splice(this.#waiting)) this.#report(id, '')
    }
  }

  waitMs(now: number): number {
    if (this.#options.store.away()) return this.#waitAloneMs(now)
    if (this.#connecting > 0) return LOOK_MS
    const unused = this.#places.findLastIndex(({ at }) => at < now - UNUSED_MS)
    for (const { id } of this.#places.splice(0, unused + 1)) this.#report(id, '')
    void this.#ask()
    const [next] = this.#places
    return next ? Math.max(0, next.at - now) : Math.max(LOOK_MS, this.#askAgainAt - now)
  }

  /** Takes a place for a request. Call it only when `waitMs` is 0. */
  take(): Slot {
    const own = this.#own.take()
    const { clock, storeClock, store, lastStop } = this.#options
    const taken = clock.monotonic()
    const place = store.away() ? undefined : this.#places.shift()
    let connects = !place
    if (connects) this.#connecting++
    const connected = () => {
      if (!connects) return
      connects = false
      this.#connecting--
      this.#lastAlone = clock.monotonic()
    }
    let settled = false
    const arrived = (latest: number) => {
      settled = true
      if (place) this.#report(place.id, storeClock.toStore(latest))
      return latest
    }
    return {
      // While this machine was stopped, the store may have forgotten the place, or the others may have got it.
      isOver: now => lastStop() > taken || (place !== undefined && now - place.at > LEAVES_MS),
      start: now => {
        connected()
        return arrived(own.start(now))
      },
      answered: now => arrived(own.answered(now)),
      release: () => {
        own.release()
        connected()
        if (!settled && place) this.#report(place.id, '')
        settled = true
      },
    }
  }

  /** The host answered RATE_LIMITED, so all machines wait. */
  tooMuch(waitMs: number | null): void {
    this.#refused = Math.round(waitMs ?? 0)
    void this.#flushSoon()
  }

  /** Tells all machines the limit that the host names. */
  adopt(limit: number): void {
    const known = Math.min(this.#most, limit)
    if (known === this.#limit) return
    this.#taught = limit
    this.#setLimit(known)
    void this.#flushSoon()
  }

  #setLimit(limit: number): void {
    this.#limit = limit
    if (!this.#wasAway) this.#own.adopt(limit)
  }

  /** How long to wait in this machine's part, without the store. What was sent before, with the store, still counts. */
  #waitAloneMs(now: number): number {
    const part = this.#limit * this.#options.share
    this.#goAway()
    this.#own.adopt(Math.max(1, Math.floor(part)))
    const { lastAnswer, lastStop } = this.#options
    const silent = Math.max(lastAnswer(), lastStop()) + SILENT_MS - now
    const wait = Math.max(silent, this.#nextAt - now, this.#own.waitMs(now))
    if (wait > 0) return Math.min(wait, LOOK_AWAY_MS)
    if (part < 1) this.#nextAt = now + 1000 / part
    this.#wasAlone = true
    this.#lastAlone = now
    return 0
  }

  /** The store is away. `untold`: more places of which the store could not be told. */
  #goAway(untold: readonly string[] = []): void {
    const now = this.#options.clock.monotonic()
    const unused = this.#places.splice(0).map(({ id }) => id)
    for (const id of [...untold, ...unused, ...this.#reports.keys()]) this.#unsure.set(id, now)
    this.#reports.clear()
    this.#refused = ''
    this.#wasAway = true
  }

  /** The store is back. It is told what this machine has sent in the last second, and gets back all other places. */
  #comeBack(): void {
    const { clock, storeClock, newId } = this.#options
    const now = clock.monotonic()
    for (const [id, since] of this.#unsure) if (since > now - OPEN_MS) this.#reports.set(id, '')
    this.#unsure.clear()
    for (const arrival of this.#own.recent(now)) this.#reports.set(newId(), storeClock.toStore(arrival))
  }

  #report(id: string, latest: number | ''): void {
    if (this.#options.store.away()) this.#goAway([id])
    else {
      this.#reports.set(id, latest)
      void this.#flushSoon()
    }
  }

  async flush(): Promise<void> {
    if (!this.#told) await this.#exchange('')
  }

  #flushing = false

  async #flushSoon(): Promise<void> {
    if (this.#flushing) return
    this.#flushing = true
    const { clock, ended } = this.#options
    await clock.sleep(REPORT_MS, ended)
    this.#flushing = false
    // A question that is under way, or that comes, takes the reports with it.
    if (this.#asking) return
    await this.flush()
    if (!this.#told && !ended.aborted) void this.#flushSoon()
  }

  get #told(): boolean {
    return this.#reports.size === 0 && this.#taught === '' && this.#refused === ''
  }

  /** Asks for places, one after the other, while requests wait that have no place. */
  async #ask(): Promise<void> {
    if (this.#asking) return
    const { clock, ended, store, newId } = this.#options
    this.#asking = true
    while (this.#waiting > this.#places.length && !ended.aborted && !store.away()) {
      const id = newId()
      const granted = await this.#exchange(id)
      if (granted === null) break
      // Sorted, because the store may hand out a returned place that comes before places which are here already.
      if (granted.isPlace)
        this.#places = [...this.#places, { id, at: granted.at }].sort((a, b) => a.at - b.at)
      else {
        this.#askAgainAt = granted.at
        await clock.sleep(Math.max(1, granted.at - clock.monotonic()), ended)
      }
    }
    this.#asking = false
    if (!this.#told && !ended.aborted) void this.#flushSoon()
  }

  /** Asks the store one question, with all reports. `id`: of the place that is asked for, or ''. Null: the store is away. */
  async #exchange(id: string): Promise<{ isPlace: boolean; at: number } | null> {
    const { store, machine, clock, storeClock } = this.#options
    if (this.#wasAway) this.#comeBack()
    const reports = [...this.#reports]
    const [taught, refused, back] = [this.#taught, this.#refused, this.#wasAlone]
    // Set before the answer: if the store is lost meanwhile, or a request leaves without it, they become true again.
    this.#wasAway = this.#connecting > 0
    this.#wasAlone = false
    this.#reports.clear()
    this.#taught = ''
    this.#refused = ''
    const sent = clock.monotonic()
    const head = [machine, id, this.#most, taught, back ? 1 : 0, refused]
    const answer = await store.run(RATE, this.#names, [...head, ...reports.flat()])
    const now = clock.monotonic()
    if (!answer.ok) {
      this.#taught = taught
      this.#wasAlone ||= back
      this.#goAway([id, ...reports.map(([of]) => of)])
      return null
    }
    const [at, isPlace, told, limit, refusals] = answer.value as [number, number, number, number, number]
    storeClock.learn(sent, now, at)
    this.#limit = limit
    this.#own.adopt(limit)
    this.#options.refusals(refusals)
    return isPlace === 1 ? { isPlace: true, at: storeClock.toHere(told) } : { isPlace: false, at: now + told }
  }
}
