import type { Config } from '../../config/schema.ts'
import type { Interruption } from '../../sync/interruption.ts'
import type { PassEvent } from '../../sync/pass-events.ts'
import type { PassReport } from '../../sync/pass-request.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Deed, Hearing, Means } from '../deeds/deed.ts'
import type { Engine, PassOptions } from '../loop/mirroring.ts'

/** What the daemon works with at the moment. */
export interface Workplace {
  config: Config
  synced: Synced
  engine: Engine
  interruption: Interruption
  /** Explains an error of the state as such; see State. */
  failed(error: unknown): unknown
}

/** Nothing can be carried out now. `code`: DAEMON_ENDED, or what keeps the daemon from its state. */
export class NotNow extends Error {
  override name = 'NotNow'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** What those who wait for a pass want of it. */
export interface PassNeeds {
  /** A person has asked for it. */
  asked: boolean
  /** It is to look at everything: for each who asked once. */
  everything: boolean
  options: PassOptions
}

interface Errand {
  start(): Promise<void>
  refuse(why: Error): void
  /** Nobody waits for it any more. */
  left: AbortSignal
  hearing: Hearing
  /** It has ended, or waits for a pass. */
  rested: PromiseWithResolvers<void>
}

/** An errand that waits for a pass. */
interface Waiting {
  errand: Errand
  /** A complete pass over everything; else whatever comes next will do. */
  whole: PassOptions | null
  looked: boolean
  goOn(report: PassReport): void
}

/**
 * What people ask the running daemon for. Its loop has the state and carries errands out between passes, one after the
 * other; one that needs a pass waits for the loop's own.
 */
export class Errands {
  #workplace: Workplace | null = null
  /** Why nothing is carried out for long. Null: what is asked for is, or waits a moment. */
  #closed: NotNow | null = null
  #queue: Errand[] = []
  #waiting: Waiting[] = []
  /** Begun and not ended. */
  readonly #open = new Set<Errand>()
  #asked = new AbortController()
  #trouble: unknown = null
  /** The daemon's loop is called from its rest. */
  onAsked: () => void = () => {}
  /** Whether the loop has something else to look at. */
  isBusy: () => boolean = () => false

  /** From here on errands are carried out. */
  open(workplace: Workplace): void {
    this.#closed = null
    this.#workplace = workplace
  }

  /** The workplace is left. What was begun can't be ended; what was not waits for the next one. */
  leave(why: NotNow): void {
    this.#workplace = null
    for (const errand of this.#open) errand.refuse(why)
    this.#open.clear()
    this.#waiting = []
  }

  /** Refuses what waits, and whatever comes until it is open again. */
  close(why: NotNow): void {
    this.leave(why)
    this.#closed = why
    for (const errand of this.#queue.splice(0)) errand.refuse(why)
  }

  get workplace(): Workplace | null {
    return this.#workplace
  }

  /** Aborted while somebody waits: a pass makes way. */
  get asked(): AbortSignal {
    return this.#asked.signal
  }

  /** Ends the pass that is under way soon, and begins another. */
  interrupt(): void {
    this.#asked.abort()
    this.onAsked()
  }

  /** Resolves with the deed's answer. `left`: whoever asked has gone; what was not begun is dropped. */
  ask<Request, Result>(
    deed: Pick<Deed<Request, Result>, 'carryOut' | 'atOnce'>,
    request: Request,
    hearing: Hearing,
    left: AbortSignal,
    begun: () => void = () => {},
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const errand: Errand = {
      hearing,
      left,
      rested: Promise.withResolvers(),
      refuse: reject,
      start: async () => {
        const { failed } = this.#workplace!
        begun()
        try {
          resolve(await deed.carryOut(this.#meansOf(errand), request))
        } catch (error) {
          const why = failed(error)
          reject(why)
          // What is in memory can't be trusted where the state failed: the loop must know.
          if (why instanceof StateError) this.#trouble = why
        }
      },
    }
    if (this.#closed) reject(this.#closed)
    else if (deed.atOnce && this.#workplace) void errand.start().then(() => this.interrupt())
    else {
      this.#queue.push(errand)
      this.interrupt()
    }
    return promise
  }

  /** Between passes: begins what was asked for. Throws StateError where the state failed. */
  async carryOut(): Promise<void> {
    for (let errand = this.#queue.shift(); errand; errand = this.#queue.shift()) {
      if (errand.left.aborted) continue
      this.#open.add(errand)
      const begun = errand
      void errand.start().finally(() => {
        this.#open.delete(begun)
        begun.rested.resolve()
      })
      await errand.rested.promise
    }
    this.#throwTrouble()
    if (this.#asked.signal.aborted) this.#asked = new AbortController()
  }

  /** How the next pass is to be made for those who wait for one. */
  needs(): PassNeeds {
    const whole = this.#waiting.filter(waiting => waiting.whole !== null)
    const everything = whole.some(({ looked }) => !looked)
    for (const waiting of whole) waiting.looked = true
    const pruneIgnored = whole.some(({ whole }) => whole?.pruneIgnored === true)
    return { asked: whole.length > 0, everything, options: { pruneIgnored } }
  }

  /** Whether somebody waits for the next pass. */
  get awaitPass(): boolean {
    return this.#waiting.length > 0
  }

  /** A pass is over. `whole`: it did all that it had to do. Those who waited for it go on. Throws StateError. */
  async passed(report: PassReport, whole: boolean): Promise<void> {
    const served = this.#waiting.filter(waiting => waiting.whole === null || (whole && waiting.looked))
    this.#waiting = this.#waiting.filter(waiting => !served.includes(waiting))
    for (const { errand, goOn } of served) {
      errand.rested = Promise.withResolvers()
      goOn(report)
      await errand.rested.promise
    }
    this.#throwTrouble()
  }

  /** What a pass tells, for all who wait for one. */
  readonly tell = (told: PassEvent): void => {
    for (const { hearing } of this.#open) hearing.tell(told)
  }

  #meansOf(errand: Errand): Means {
    const { config, synced, engine, interruption } = this.#workplace!
    return {
      config,
      synced,
      engine: () => engine,
      interruption,
      hearing: errand.hearing,
      pass: (options = {}) => this.#passFor(errand, options),
      othersWait: () => this.#asked.signal.aborted || this.isBusy(),
      giveWay: async () => void (await this.#passFor(errand, null)),
    }
  }

  #passFor(errand: Errand, whole: PassOptions | null): Promise<PassReport> {
    return new Promise(goOn => {
      this.#waiting.push({ errand, whole, looked: false, goOn })
      errand.rested.resolve()
    })
  }

  #throwTrouble(): void {
    const trouble = this.#trouble
    this.#trouble = null
    if (trouble) throw trouble
  }
}
