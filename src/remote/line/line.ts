import type { Clock } from '../clock.ts'
import { LineRate } from './line-rate.ts'

/** What a line takes of which nothing is known: half a megabit. Bytes a second. */
const MODEST = 64 * 1024
/** Of a credential's life (§8): within this all uploads that share the line are to end. */
const SHARED = 0.5
/** Within this one that has the line for itself. */
const ALONE = 0.8
/** Over how much of it bytes count, how much of it must have been seen to count, and how long that counts. */
const WINDOW = 0.1
const SEEN = 0.05
const FRESH = 3
const LOOK_AGAIN_MS = 100

/** What an upload would take by itself, in milliseconds, at so many bytes a second. */
export interface Slowness {
  ms: number
  bytesPerSecond: number
}

export interface LineOptions {
  clock: Clock
  /** How long a credential may be used (§8). */
  lifetimeMs: number
  /** What uploads may take of the line at most, in bytes a second. */
  ceiling: number
}

/** An upload that has its share of the line, from before its credential is asked for to its end. */
export interface Passage {
  /** The credential's life has begun. */
  granted(): void
  /** What is left of that life, in milliseconds. */
  leftMs(): number
  /**
   * The connection took so many bytes, for which it had been ready since `from`. False: the line has become so slow that
   * this upload can't end in time, or not all that are under way can and this one came last.
   */
  taken(bytes: number, from: number): boolean
  /** All of it has arrived. */
  arrived(): void
  leave(): void
}

interface Underway {
  /** Bytes that no connection has taken yet. */
  unsent: number
  /** Bytes that have not left yet: what the system keeps in its buffers is still before them. */
  left: number
  /** When its credential was granted. */
  since: number | null
}

/**
 * The line to the upload nodes, shared by all uploads: none begins that can't end well within its credential's life
 * beside those under way. So on a slow line fewer go at a time, in the order in which they came.
 */
export class Line {
  readonly #options: LineOptions
  readonly #rate: LineRate
  /** In the order in which they began. */
  readonly #underway = new Set<Underway>()
  readonly #waiting: symbol[] = []

  constructor(options: LineOptions) {
    const { lifetimeMs } = options
    this.#options = options
    this.#rate = new LineRate({ windowMs: lifetimeMs * WINDOW, freshMs: lifetimeMs * FRESH })
  }

  /** Waits until an upload of so many bytes may begin. Null: cancelled. One that takes too long even alone is told so. */
  async enter(size: number, signal: AbortSignal): Promise<{ passage: Passage } | { slow: Slowness } | null> {
    const ticket = Symbol()
    this.#waiting.push(ticket)
    try {
      while (!signal.aborted) {
        const slow = this.tooSlowFor(size)
        if (slow) return { slow }
        this.#forgetDead()
        const isFirst = this.#waiting[0] === ticket
        if (isFirst && (this.#underway.size === 0 || this.#hasRoomFor(size)))
          return { passage: this.admit(size) }
        await this.#options.clock.sleep(LOOK_AGAIN_MS, signal)
      }
      return null
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(ticket), 1)
    }
  }

  /** Lets an upload begin, whatever the line. */
  admit(size: number): Passage {
    const { clock } = this.#options
    const upload: Underway = { unsent: size, left: size, since: null }
    const flow = this.#rate.open()
    this.#underway.add(upload)
    return {
      granted: () => {
        upload.since = clock.now()
      },
      leftMs: () => this.#leftMs(upload, clock.now()),
      taken: (bytes, from) => {
        upload.unsent -= bytes
        upload.left -= flow.taken(bytes, from, clock.now())
        return this.#mayGoOn(upload)
      },
      arrived: () => flow.arrived(size, clock.now()),
      leave: () => void this.#underway.delete(upload),
    }
  }

  /** Known: an upload of so many bytes takes too long for its credential, even alone. */
  tooSlowFor(size: number): Slowness | null {
    const { lifetimeMs, ceiling } = this.#options
    const bytesPerSecond = this.#knownRate() ?? ceiling
    const ms = (size * 1000) / bytesPerSecond
    return ms > lifetimeMs * ALONE ? { ms, bytesPerSecond } : null
  }

  /** Null: not seen for long enough, for the system's buffers come between. */
  #knownRate(): number | null {
    const { clock, lifetimeMs, ceiling } = this.#options
    const measured = this.#rate.measured(clock.now())
    return measured && measured.seenMs >= lifetimeMs * SEEN ? Math.min(measured.rate, ceiling) : null
  }

  #hasRoomFor(size: number): boolean {
    const { clock, lifetimeMs, ceiling } = this.#options
    const now = clock.now()
    // While buffers grow the line seems faster than it is: what arrived is the better witness for that.
    const proved = Math.max(MODEST, this.#rate.atLeast(now))
    const likely = Math.min(this.#knownRate() ?? ceiling, proved)
    const all = [...this.#underway, { unsent: size, left: size, since: null }]
    const spare = lifetimeMs * (1 - SHARED)
    return all.every(
      upload => msBeside(upload, all, Math.min(likely, ceiling)) <= this.#leftMs(upload, now) - spare,
    )
  }

  #mayGoOn(upload: Underway): boolean {
    const rate = this.#knownRate()
    if (rate === null || upload.unsent <= 0) return true
    const now = this.#options.clock.now()
    const sending = [...this.#underway].filter(({ since }) => since !== null)
    const areInTime = (all: Underway[]) =>
      all.every(each => msBeside(each, all, rate) <= this.#leftMs(each, now))
    return areInTime([upload]) && (upload !== sending.at(-1) || areInTime(sending))
  }

  #leftMs({ since }: Underway, now: number): number {
    return this.#options.lifetimeMs - (since === null ? 0 : now - since)
  }

  /** A credential that was never used holds no place for ever. */
  #forgetDead(): void {
    const now = this.#options.clock.now()
    for (const upload of this.#underway) if (this.#leftMs(upload, now) <= 0) this.#underway.delete(upload)
  }
}

/** How long an upload takes where all share the line fairly: until then each of them has sent as much, or all it has. */
function msBeside(upload: Underway, all: readonly Underway[], rate: number): number {
  const bytes = all.reduce((sum, { left }) => sum + Math.min(left, upload.left), 0)
  return (bytes * 1000) / rate
}
