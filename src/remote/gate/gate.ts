import { type Millis, type SteadyClock, systemClock } from '../../protocol/clock.ts'
import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import { because } from '../../words/reasons.ts'
import { cancelled, doubted, isOutage, isUnreachable, NO_ROOM, notAsked, wasNotDone } from '../failures.ts'
import type { Block, HostFailure, Outcome } from '../host.ts'
import { Blocks } from './blocks.ts'
import { asksForLong, Outage, type Patience } from './outage.ts'
import {
  arrivedBefore,
  type EarlierRequests,
  type Pace,
  RateWindow,
  type RequestWindow,
  type Slot,
  WINDOW_MS,
} from './rate-window.ts'
import type { InTurn } from './request-queue.ts'

/** A request that has ended. `status` null: no answer. `code` null: it succeeded. `ms`: since its first byte left. */
export interface RequestEvent {
  endpoint: Endpoint
  status: number | null
  code: string | null
  ms: number
}

export interface GateOptions {
  requestsPerSecond: Readonly<Record<Endpoint, number>>
  /** How many requests to one endpoint may be under way at a time. */
  concurrency: number
  patience: Patience
  clock: SteadyClock
  /** A number from 0 to 1. Left out: Math.random. */
  random?(): number
  /** The requests of the process before this one. Left out: none of them counts for the rate any more. */
  earlier?: EarlierRequests
  /** The wall clock, by which messages say until when the host asks to wait. Left out: the system's. */
  wall?(): number
  /** Makes the rate window of an endpoint that several machines share. Left out: each has this machine's own. */
  windowOf?: ((endpoint: Endpoint, limit: number, own: RateWindow) => RequestWindow) | undefined
  /** Blocks that an earlier process met. */
  blocks?: readonly Block[]
  /** Long waits that the host asked an earlier process to keep. */
  waits?: readonly AskedWait[]
  onRequest?(event: RequestEvent): void
  /** Called when the host asks to wait for so long that the next process must keep the wait too. */
  onLongWait?(wait: AskedWait): void
}

/** A failure with which the host asked to wait (`retryAfterMs`). */
export interface AskedWait {
  failure: HostFailure
  until: Millis
}

/** The result of sending one request once. */
export interface Attempt<T> {
  outcome: Outcome<T>
  /** Null: no answer came. */
  status: number | null
  pace: Pace
}

/** Sends one request once, and calls `started` when its first byte leaves. */
type Send<T> = (started: () => void) => Promise<Attempt<T>>

/** The error of a request that could not leave before its place in the rate window was over. No byte of it has left. */
class PlaceOver extends Error {}

/** What the requests to one endpoint share. */
interface Lane {
  endpoint: Endpoint
  inTurn: InTurn
  window: RequestWindow
  /** The outage of this endpoint alone. */
  outage: Outage
  /** The outage of the host as a whole. Null for `send`, because an upload node is another machine than the host. */
  hostOutage: Outage | null
  /** While one of these outages lasts, requests of this lane wait. */
  waitsOut: readonly Outage[]
  underWay: number
}

/** A request that may be sent now: its place in the rate window, when it got the place, and the outages that it probes. */
interface Turn {
  slot: Slot
  at: number
  probed: readonly Outage[]
}

/** The only way to the host. A request passes the queue of its endpoint, the blocks of the account, the outages and the rate
 * window. After an outage it is sent again, if that can do no harm. */
export class Gate {
  readonly #options: GateOptions
  readonly #lanes: ReadonlyMap<Endpoint, Lane>
  readonly #blocks: Blocks
  readonly #underWay = new Set<Promise<unknown>>()
  /** Aborted by `askNow`. */
  #woken = new AbortController()
  #closed = false

  /** Use `openGate`. */
  constructor(options: GateOptions, lanes: ReadonlyMap<Endpoint, Lane>, blocks: Blocks) {
    this.#options = options
    this.#lanes = lanes
    this.#blocks = blocks
  }

  /** Sends a request when its turn comes, and again as long as `Patience` allows. `mayGo` is asked just before each try is
   * sent; when it says no, the outcome is CANCELLED. Rejects with what `send` or `mayGo` throw, and after `close`. */
  async pass<T>(
    endpoint: Endpoint,
    signal: AbortSignal,
    send: Send<T>,
    mayGo: () => boolean = () => true,
  ): Promise<Outcome<T>> {
    if (this.#closed) throw new Error('the gate is closed')
    const lane = this.#lanes.get(endpoint)!
    const work = lane.inTurn(() => this.#persist(lane, signal, send, mayGo), signal)
    this.#underWay.add(work)
    try {
      return (await work) ?? { ok: false, failure: cancelled(endpoint, 'nothing') }
    } finally {
      this.#underWay.delete(work)
    }
  }

  /** The endpoints that can't be used for now. `untried`: also those opened by `unblock` and not tried since. */
  blocks(untried?: 'untried'): Block[] {
    return this.#blocks.list(untried)
  }

  /** Lets the next request to this endpoint be sent. Its answer shows whether the endpoint's block or outage is over. */
  unblock(endpoint: Endpoint): void {
    this.#blocks.open(endpoint)
    for (const outage of this.#lanes.get(endpoint)!.waitsOut) outage.probeSoon()
  }

  /** Wakes the requests that wait for the end of an outage, even where the host asked to wait (Retry-After). Only for commands of
   * a person. What runs by itself uses `unblock`, which keeps the host's wait. */
  askNow(): void {
    for (const { outage, hostOutage } of this.#lanes.values()) {
      outage.probeNow()
      hostOutage?.probeNow()
    }
    this.#woken.abort()
    this.#woken = new AbortController()
  }

  /** Another machine of the account was refused. Requests that wait are answered with its failure, and not sent. */
  block(failure: HostFailure): void {
    this.#blocks.note(failure, this.#options.clock.monotonic())
  }

  /** The requests that still count for the rate, with the latest time of their arrival, for the next process. */
  recent(): EarlierRequests {
    const now = this.#options.clock.monotonic()
    return Object.fromEntries(
      [...this.#lanes].map(([endpoint, { window }]) => [endpoint, window.recent(now)]),
    )
  }

  /** Takes no more requests, and waits for the requests that are under way. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
  }

  /** Sends a request until it succeeds, fails in a way that another try can't mend, or the outage counts as lasting. */
  async #persist<T>(
    lane: Lane,
    signal: AbortSignal,
    send: Send<T>,
    mayGo: () => boolean,
  ): Promise<Outcome<T>> {
    const { attempts } = this.#options.patience
    // Whether an earlier try may have been carried out: NOT_FOUND to the second DELETE may be the work of the first.
    let inDoubt = false
    for (let tries = 1; ; ) {
      const leave = lane.window.enter?.()
      const turn = await this.#turn(lane, signal, mayGo, tries > 1).finally(leave)
      if (!turn.ok) return inDoubt ? doubted(turn.failure) : turn
      const once = await this.#once(lane, turn.value, send)
      if (once === null) continue
      const outcome = inDoubt && !once.ok ? doubted(once.failure) : once
      inDoubt ||= !once.ok && !wasNotDone(once.failure)
      const again = !outcome.ok && outcome.failure.remedy === 'later' && isOutage(outcome.failure)
      const failures = Math.max(tries, lane.outage.failures, lane.hostOutage?.failures ?? 0)
      if (!again) return outcome
      // A success sets the outage's count to 0. When it is lower than this request's tries, another one has succeeded.
      if (tries > lane.outage.failures) outcome.failure = { ...outcome.failure, othersServed: true }
      if (failures >= attempts) return outcome
      tries++
    }
  }

  /** Waits until a request may be sent, and takes its place in the rate window. Nothing is awaited after the last check, so that
   * no other request takes the same place. */
  async #turn(
    { endpoint, window, waitsOut }: Lane,
    signal: AbortSignal,
    mayGo: () => boolean,
    hasFailed: boolean,
  ): Promise<Outcome<Turn>> {
    const { clock } = this.#options
    for (;;) {
      if (signal.aborted) return { ok: false, failure: cancelled(endpoint, 'nothing') }
      const failure = this.#blocks.of(endpoint)
      if (failure) return { ok: false, failure }
      const now = clock.monotonic()
      const lasting = waitsOut.map(outage => outage.lasting(now)).find(last => last !== null)
      if (lasting) return { ok: false, failure: notAsked(endpoint, lasting) }
      // The window is asked only when no outage must be waited for, because asking a shared window may take a place.
      const outageMs = Math.max(...waitsOut.map(outage => outage.waitMs(now)))
      const wait = outageMs || window.waitMs(now)
      if (wait <= 0) {
        if (!mayGo()) return { ok: false, failure: cancelled(endpoint, 'nothing') }
        const probed = waitsOut.filter(outage => outage.enter())
        return { ok: true, value: { slot: window.take(), at: now, probed } }
      }
      // A request that has failed waits longer, so that another one probes first: the host may fail for this one alone.
      const ended = outageMs > 0 ? AbortSignal.any([signal, this.#woken.signal]) : signal
      await clock.sleep(hasFailed ? wait + 1 : wait, ended)
    }
  }

  /** Sends a request. Null: its place was over before it could leave, so it needs another turn. */
  async #once<T>(lane: Lane, { slot, at, probed }: Turn, send: Send<T>): Promise<Outcome<T> | null> {
    const { endpoint, window } = lane
    const { clock, onRequest } = this.#options
    let began: number | null = null
    lane.underWay++
    const started = () => {
      const now = clock.monotonic()
      // The place may be over: connecting takes long, and a process may be stopped meanwhile (SIGSTOP).
      if (slot.isOver?.(now)) throw new PlaceOver()
      began = now
      slot.start(now)
    }
    try {
      const { outcome: answered, status, pace } = await send(started)
      const outcome = this.#withWait(this.#orFull(answered), pace)
      const now = clock.monotonic()
      if (status !== null) slot.answered(now)
      if (pace.limit !== null) window.adopt(pace.limit)
      const failure = outcome.ok ? null : outcome.failure
      this.#learn(failure, lane, at, pace, now)
      onRequest?.({ endpoint, status, code: failure?.code ?? null, ms: now - (began ?? now) })
      return outcome
    } catch (error) {
      if (error instanceof PlaceOver) return null
      throw error
    } finally {
      lane.underWay--
      slot.release()
      for (const outage of probed) outage.leave()
    }
  }

  /** A host without a free node is no outage while its nodes take other uploads of this machine: one of these will end. */
  #orFull<T>(outcome: Outcome<T>): Outcome<T> {
    if (outcome.ok || this.#lanes.get('send')!.underWay === 0) return outcome
    const { endpoint, code } = outcome.failure
    const isFull = endpoint === 'upload' && code === NO_ROOM
    return isFull ? { ok: false, failure: { ...outcome.failure, remedy: 'give_way' } } : outcome
  }

  /** The same outcome. When the host asks for a long wait, the failure's message also says until when. */
  #withWait<T>(outcome: Outcome<T>, { retryAfterMs }: Pace): Outcome<T> {
    if (outcome.ok || retryAfterMs === null || !isOutage(outcome.failure) || !asksForLong(retryAfterMs))
      return outcome
    const { wall = systemClock.wall, onLongWait } = this.#options
    const until = wall() + retryAfterMs
    const message = because('asked_to_wait', { why: outcome.failure.message, until })
    const failure = { ...outcome.failure, message, retryAfterMs }
    onLongWait?.({ failure, until })
    return { ok: false, failure }
  }

  /** Records what a finished request shows about the account and the outages. `failure`: null when the request succeeded. */
  #learn(failure: HostFailure | null, lane: Lane, sent: number, { retryAfterMs }: Pace, now: number): void {
    const { endpoint, window, outage, hostOutage } = lane
    const waitMs = waitAfter(failure, retryAfterMs)
    if (failure?.code === 'RATE_LIMITED') window.tooMuch?.(waitMs)
    const isAnswer = failure === null || failure.status !== undefined
    const ofOutage = failure && isOutage(failure) ? failure : null
    if (isAnswer && !ofOutage && failure?.remedy !== 'key') this.#blocks.worked(endpoint)
    if (failure) this.#blocks.note(failure, now)
    if (ofOutage) outage.failed(sent, now, ofOutage, waitMs)
    else if (isAnswer) outage.passed(sent)
    if (failure && isUnreachable(failure)) hostOutage?.failed(sent, now, failure, waitMs)
    // The host answers again after an outage of the whole host, so every endpoint may be probed at once.
    else if (isAnswer && hostOutage?.passed(sent))
      for (const each of this.#lanes.values()) if (each.hostOutage) each.outage.probeSoon()
  }
}

/** How long no request may be sent. Null: the host did not say. */
function waitAfter(failure: HostFailure | null, retryAfterMs: number | null): number | null {
  // After RATE_LIMITED no request is sent for a second, because then none of the earlier requests counts any more (§8).
  return retryAfterMs ?? (failure?.code === 'RATE_LIMITED' ? WINDOW_MS : null)
}

export function openGate(options: GateOptions): Gate {
  const { requestsPerSecond, concurrency, patience, random = Math.random, earlier = null, windowOf } = options
  const blocks = new Blocks()
  for (const { since, ...failure } of options.blocks ?? []) {
    blocks.note(failure, since)
    // A person may have corrected the key since then.
    if (failure.remedy === 'key') blocks.open(failure.endpoint)
  }
  const newOutage = () => new Outage({ random, ...patience })
  const outages = new Map(ENDPOINTS.map(endpoint => [endpoint, newOutage()]))
  const ofHost = newOutage()
  const { wall = systemClock.wall, clock, waits = [] } = options
  for (const { failure, until } of waits) {
    // The clock may have been set back since, but the wait must not become longer than the host asked for.
    const leftMs = Math.min(until - wall(), failure.retryAfterMs ?? 0)
    const now = clock.monotonic()
    if (leftMs <= 0) continue
    outages.get(failure.endpoint)!.failed(now, now, failure, leftMs)
    if (isUnreachable(failure)) ofHost.failed(now, now, failure, leftMs)
  }
  const laneOf = (endpoint: Endpoint): Lane => {
    const limit = requestsPerSecond[endpoint]
    const own = new RateWindow(limit, arrivedBefore(earlier, endpoint, limit))
    const outage = outages.get(endpoint)!
    const hostOutage = endpoint === 'send' ? null : ofHost
    const ownOutages = hostOutage ? [outage, hostOutage] : [outage]
    return {
      endpoint,
      inTurn: queueOf(concurrency, limit),
      // Without a limit there is nothing to share.
      window: limit === Number.POSITIVE_INFINITY ? own : (windowOf?.(endpoint, limit, own) ?? own),
      outage,
      hostOutage,
      // Credentials are not asked for while the nodes fail: each costs quota and expires after ten minutes (§8).
      waitsOut: endpoint === 'upload' ? [...ownOutages, outages.get('send')!] : ownOutages,
      underWay: 0,
    }
  }
  return new Gate(options, new Map(ENDPOINTS.map(endpoint => [endpoint, laneOf(endpoint)])), blocks)
}

/** The queue of an endpoint, loaded with its first request. An endpoint without a rate limit, such as that of a benchmark's host,
 * has none: its callers send few requests at a time, and Bottleneck's bookkeeping takes longer than such a request. */
export function queueOf(places: number, requestsPerSecond: number): InTurn {
  if (requestsPerSecond === Number.POSITIVE_INFINITY)
    return async (job, signal) => (signal.aborted ? null : job())
  let loaded: Promise<InTurn> | null = null
  return async (job, signal) => {
    loaded ??= import('./request-queue.ts').then(({ openQueue }) => openQueue(places))
    return (await loaded)(job, signal)
  }
}
