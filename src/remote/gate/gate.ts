import type { Endpoint } from '../../protocol/endpoints.ts'
import type { Clock } from '../clock.ts'
import { cancelled, doubted, isAway, isTrouble, notAsked, wasNotDone } from '../failures.ts'
import type { Block, HostFailure, Outcome } from '../host.ts'
import { type Lane, type LanesOptions, openLanes } from '../line/lanes.ts'
import { Blocks } from './blocks.ts'
import type { Pace } from './rate-headers.ts'
import { type Slot, WINDOW_MS } from './rate-window.ts'
import type { Trouble, Visit } from './trouble.ts'

export type { Patience, RateLedger } from '../line/lanes.ts'

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

export interface GateOptions extends LanesOptions {
  clock: Clock
  /** What is known to be shut from before. Left out: nothing. */
  blocks?: readonly Block[]
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

/** A request's place, taken. */
interface Turn {
  slot: Slot
  visits: ReadonlyMap<Trouble, Visit>
}

/** The only door to the host: concurrency, rate, passing trouble and blocks of each endpoint. */
export class Gate {
  readonly #options: GateOptions
  readonly #lanes: ReadonlyMap<Endpoint, Lane>
  readonly #blocks: Blocks
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false

  /** Use `openGate`. */
  constructor(options: GateOptions, lanes: ReadonlyMap<Endpoint, Lane>, blocks: Blocks) {
    this.#options = options
    this.#lanes = lanes
    this.#blocks = blocks
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

  /** What the account can't use for now. `untried`: with what was opened and not asked since. */
  blocks(untried?: 'untried'): Block[] {
    return this.#blocks.list(untried)
  }

  /** The next request to this endpoint finds out whether its block, or the outage that it waits for, is over. */
  unblock(endpoint: Endpoint): void {
    this.#blocks.open(endpoint)
    for (const trouble of this.#lanes.get(endpoint)!.heeds) trouble.hurry()
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
      const failures = Math.max(tries, lane.trouble.failures, lane.away?.failures ?? 0)
      if (!again || failures >= attempts) return outcome
    }
  }

  /** Waits until a request may start, and takes its place in the same turn of the event loop. */
  async #turn(
    { endpoint, window, heeds }: Lane,
    signal: AbortSignal,
    mayGo: () => boolean,
  ): Promise<Outcome<Turn>> {
    const { clock } = this.#options
    for (;;) {
      if (signal.aborted) return { ok: false, failure: cancelled(endpoint, 'nothing') }
      const failure = this.#blocks.of(endpoint)
      if (failure) return { ok: false, failure }
      const now = clock.now()
      const lasting = heeds.map(trouble => trouble.lasting(now)).find(last => last !== null)
      if (lasting) return { ok: false, failure: notAsked(endpoint, lasting) }
      const wait = Math.max(window.waitMs(now), ...heeds.map(other => other.waitMs(now)))
      if (wait <= 0 && !mayGo()) return { ok: false, failure: cancelled(endpoint, 'nothing') }
      if (wait <= 0) {
        const visits = new Map(heeds.map(trouble => [trouble, trouble.enter(now)]))
        return { ok: true, value: { slot: window.take(), visits } }
      }
      await clock.sleep(wait, signal)
    }
  }

  async #once<T>(lane: Lane, turn: Turn, send: Send<T>): Promise<Outcome<T>> {
    const { endpoint, window } = lane
    const { slot, visits } = turn
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
      if (outcome.ok) this.#passed(lane, turn)
      else {
        if (outcome.failure.code === 'RATE_LIMITED') window.tooMuch()
        this.#takeNote(outcome.failure, lane, turn, pace, now)
      }
      const code = outcome.ok ? null : outcome.failure.code
      onRequest({ endpoint, status, code, ms: now - (began ?? now) })
      return outcome
    } finally {
      slot.release()
      for (const [trouble, visit] of visits) trouble.leave(visit)
    }
  }

  #takeNote(failure: HostFailure, lane: Lane, turn: Turn, { retryAfterMs }: Pace, now: number): void {
    const { trouble, away } = lane
    const isAnswer = failure.status !== undefined && !isTrouble(failure) && failure.remedy !== 'key'
    if (isAnswer) this.#blocks.worked(lane.endpoint)
    this.#blocks.note(failure, now)
    // After a second the host has forgotten what was too much for it (§8).
    const least = failure.code === 'RATE_LIMITED' ? WINDOW_MS : null
    const failed = (what: Trouble) => what.failed(turn.visits.get(what)!, now, failure, retryAfterMs ?? least)
    if (isTrouble(failure)) failed(trouble)
    else if (failure.status !== undefined) trouble.passed(turn.visits.get(trouble)!)
    if (away && isAway(failure)) failed(away)
    else if (failure.status !== undefined) this.#hostIsThere(lane, turn)
  }

  #passed(lane: Lane, turn: Turn): void {
    this.#blocks.worked(lane.endpoint)
    lane.trouble.passed(turn.visits.get(lane.trouble)!)
    this.#hostIsThere(lane, turn)
  }

  /** After an outage every endpoint may be asked at once. */
  #hostIsThere({ away }: Lane, { visits }: Turn): void {
    if (!away?.passed(visits.get(away)!)) return
    for (const lane of this.#lanes.values()) if (lane.away === away) lane.trouble.hurry()
  }
}

/** Reads the ledger. */
export function openGate(options: GateOptions): Gate {
  const blocks = new Blocks()
  for (const { since, ...failure } of options.blocks ?? []) blocks.note(failure, since)
  return new Gate(options, openLanes(options), blocks)
}
