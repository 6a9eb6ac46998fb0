import { ENDPOINTS, type Endpoint } from '../protocol/endpoints.ts'
import { Blocks } from './blocks.ts'
import type { Clock } from './clock.ts'
import { cancelled, doubted, isTrouble, wasNotDone } from './failures.ts'
import type { Block, HostFailure, Outcome } from './host.ts'
import type { Pace } from './rate-headers.ts'
import { RateWindow, type Slot, WINDOW_MS } from './rate-window.ts'
import { openRequestQueue, type RequestQueue } from './request-queue.ts'
import { Trouble, type Visit } from './trouble.ts'

/**
 * Where the starts of requests are kept over restarts: milliseconds of the gate's clock, so the caller minds
 * reboots. It is asked once, and told each start just before the request leaves.
 */
export interface RateLedger {
  load(endpoint: Endpoint): number[]
  record(endpoint: Endpoint, start: number): void
}

/**
 * One request, after its end. `status` null: no answer. `code` null: it succeeded. `ms`: from its first byte
 * on.
 */
export interface RequestEvent {
  endpoint: Endpoint
  status: number | null
  code: string | null
  ms: number
}

/** How passing trouble is waited out: so many failures in a row, and at most so long between two. */
export interface Patience {
  attempts: number
  maxDelayMs: number
}

export interface GateOptions {
  requestsPerSecond: Readonly<Record<Endpoint, number>>
  /** Requests to one endpoint at a time. */
  concurrency: number
  patience: Patience
  clock: Clock
  /** From 0 to 1. */
  random(): number
  ledger: RateLedger
  onRequest(event: RequestEvent): void
}

/** What came of one request. */
export interface Attempt<T> {
  outcome: Outcome<T>
  status: number | null
  pace: Pace
}

/** Sends one request; says when its first byte leaves. */
export type Send<T> = (started: () => void) => Promise<Attempt<T>>

interface Lane {
  endpoint: Endpoint
  queue: RequestQueue
  window: RateWindow
  trouble: Trouble
  /** Whose trouble its requests wait out. */
  heeds: readonly Trouble[]
}

/** A request's place, taken. */
interface Turn {
  slot: Slot
  visit: Visit
}

/** The only door to the host: concurrency, rate, passing trouble and blocks of each endpoint. */
export class Gate {
  readonly #options: GateOptions
  readonly #lanes: ReadonlyMap<Endpoint, Lane>
  readonly #blocks = new Blocks()
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false

  /** Use `openGate`. */
  constructor(options: GateOptions, lanes: ReadonlyMap<Endpoint, Lane>) {
    this.#options = options
    this.#lanes = lanes
  }

  /**
   * Sends when it is this request's turn, and again where nothing was done and the trouble may pass. Rejects
   * with what `send`, `mayGo` and the ledger throw, and after `close`. `mayGo` is asked each time that it is its turn.
   */
  async pass<T>(
    endpoint: Endpoint,
    signal: AbortSignal,
    send: Send<T>,
    mayGo: () => boolean = () => true,
  ): Promise<Outcome<T>> {
    if (this.#closed) throw new Error('the gate is closed')
    const work = this.#inTurn(this.#lanes.get(endpoint)!, signal, send, mayGo)
    this.#underWay.add(work)
    try {
      return await work
    } finally {
      this.#underWay.delete(work)
    }
  }

  /** What the account can't use for now. */
  blocks(): Block[] {
    return this.#blocks.list()
  }

  /** The next request to this endpoint finds out whether its block is over. */
  unblock(endpoint: Endpoint): void {
    this.#blocks.open(endpoint)
  }

  /** Takes no more requests and waits for those it has. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
  }

  async #inTurn<T>(
    lane: Lane,
    signal: AbortSignal,
    send: Send<T>,
    mayGo: () => boolean,
  ): Promise<Outcome<T>> {
    const outcome = await lane.queue.inTurn(() => this.#persist(lane, signal, send, mayGo), signal)
    return outcome ?? { ok: false, failure: cancelled(lane.endpoint, 'nothing') }
  }

  async #persist<T>(
    lane: Lane,
    signal: AbortSignal,
    send: Send<T>,
    mayGo: () => boolean,
  ): Promise<Outcome<T>> {
    const { attempts } = this.#options.patience
    let unsure = false
    for (let tries = 1; ; tries++) {
      const turn = await this.#turn(lane, signal, mayGo)
      if (!turn.ok) return unsure ? doubted(turn.failure) : turn
      const once = await this.#once(lane, turn.value, send)
      const outcome = unsure && !once.ok ? doubted(once.failure) : once
      unsure ||= !once.ok && !wasNotDone(once.failure)
      const again = !outcome.ok && outcome.failure.remedy === 'later' && isTrouble(outcome.failure)
      if (!again || Math.max(tries, lane.trouble.failures) >= attempts) return outcome
    }
  }

  /** Waits until a request may start, and takes its place in the same turn of the event loop. */
  async #turn(
    { endpoint, window, trouble, heeds }: Lane,
    signal: AbortSignal,
    mayGo: () => boolean,
  ): Promise<Outcome<Turn>> {
    const { clock } = this.#options
    for (;;) {
      if (signal.aborted) return { ok: false, failure: cancelled(endpoint, 'nothing') }
      const failure = this.#blocks.of(endpoint)
      if (failure) return { ok: false, failure }
      const now = clock.now()
      const wait = Math.max(window.waitMs(now), ...heeds.map(other => other.waitMs(now)))
      if (wait <= 0 && !mayGo()) return { ok: false, failure: cancelled(endpoint, 'nothing') }
      if (wait <= 0) return { ok: true, value: { slot: window.take(), visit: trouble.enter(now) } }
      await clock.sleep(wait, signal)
    }
  }

  async #once<T>(
    { endpoint, window, trouble }: Lane,
    { slot, visit }: Turn,
    send: Send<T>,
  ): Promise<Outcome<T>> {
    const { clock, ledger, onRequest } = this.#options
    let began: number | null = null
    const started = () => {
      began = clock.now()
      ledger.record(endpoint, began)
      slot.start(began)
    }
    try {
      const { outcome, status, pace } = await send(started)
      const now = clock.now()
      if (status !== null) slot.answered(now)
      if (pace.limit !== null) window.adopt(pace.limit)
      if (outcome.ok) trouble.passed(visit)
      else {
        if (outcome.failure.code === 'RATE_LIMITED') window.tooMuch()
        this.#takeNote(outcome.failure, trouble, visit, pace, now)
      }
      const code = outcome.ok ? null : outcome.failure.code
      onRequest({ endpoint, status, code, ms: now - (began ?? now) })
      return outcome
    } finally {
      slot.release()
      trouble.leave(visit)
    }
  }

  #takeNote(failure: HostFailure, trouble: Trouble, visit: Visit, { retryAfterMs }: Pace, now: number): void {
    this.#blocks.note(failure, now)
    // After a second the host has forgotten what was too much for it (§8).
    const least = failure.code === 'RATE_LIMITED' ? WINDOW_MS : null
    if (isTrouble(failure)) trouble.failed(visit, now, retryAfterMs ?? least)
    else if (failure.status !== undefined) trouble.passed(visit)
  }
}

/** Reads the ledger. */
export function openGate(options: GateOptions): Gate {
  const { requestsPerSecond, concurrency, patience, random, ledger } = options
  const troubles = new Map(
    ENDPOINTS.map(endpoint => [endpoint, new Trouble({ random, maxDelayMs: patience.maxDelayMs })]),
  )
  const laneOf = (endpoint: Endpoint): Lane => {
    const trouble = troubles.get(endpoint)!
    return {
      endpoint,
      queue: openRequestQueue(concurrency, requestsPerSecond[endpoint]),
      window: new RateWindow(requestsPerSecond[endpoint], ledger.load(endpoint)),
      trouble,
      // A credential costs quota and lasts ten minutes (§8): none is asked for while nodes take no pictures.
      heeds: endpoint === 'upload' ? [trouble, troubles.get('send')!] : [trouble],
    }
  }
  return new Gate(options, new Map(ENDPOINTS.map(endpoint => [endpoint, laneOf(endpoint)])))
}
