import { type Millis, type SteadyClock, systemClock } from '../../protocol/clock.ts'

/** The line's assumed rate until an upload has arrived, in bytes a second: half a megabit. */
const ASSUMED_RATE = 64 * 1024
/** An upload begins only when all uploads under way are likely to end within this share of their credentials' lives (§8). */
const SHARE = 0.5
/** How long a measured rate counts: less than the hour after which a picture that was too slow is tried again. */
const FRESH_MS = 50 * 60_000
/** How many bytes that a connection has taken may still wait in the system's buffer (Linux: `tcp_wmem`). */
const BUFFERED = 4 * 2 ** 20
/** The age at which a credential counts as young enough until a host has taken an older one. */
const YOUNG_MS = 250
/** How often a waiting upload checks whether it may begin. */
const POLL_MS = 100

/** How long an upload would take if it were alone on the line. */
export interface Slowness {
  ms: number
  bytesPerSecond: number
}

export interface LineOptions {
  clock: SteadyClock
  /** How long a credential may be used (§8), in milliseconds. */
  lifetimeMs: number
  /** The setting `uploads.bandwidth`, in bytes a second. Infinity: there is no limit. */
  ceiling: number
  wall?(): Millis
}

/** How old a credential may become, as the nodes' answers show. A host may keep credentials for less time than it says. A machine
 * may have slept, which the monotonic clock does not count. */
export class Lives {
  /** The age of the oldest credential that a node has taken, and of the youngest older one that it has refused. */
  #taken = YOUNG_MS
  #refused = Number.POSITIVE_INFINITY

  /** How long credentials live, where that is less than the host says. */
  get ms(): number {
    return this.#refused
  }

  took(age: number): void {
    this.#taken = Math.max(this.#taken, age)
    if (this.#refused <= this.#taken) this.#refused = Number.POSITIVE_INFINITY
  }

  /** A node has refused a picture. Returns whether the age of its credential may be the reason. */
  mayBeTooOld(age: number): boolean {
    if (age <= this.#taken) return false
    this.#refused = Math.min(this.#refused, age)
    return true
  }
}

/** An upload's place on the line, from before its credential is asked for until the upload ends. */
export class Passage {
  readonly #size: number
  readonly #line: Line
  readonly #options: LineOptions
  /** Bytes that the connection has not taken yet. */
  left: number
  /** Whether no other upload was on the way at any time. */
  alone = true
  #granted: number | null = null
  #grantedAt = 0
  #began = 0

  /** Use `Line.admit`. */
  constructor(size: number, line: Line, options: LineOptions) {
    this.#size = size
    this.left = size
    this.#line = line
    this.#options = options
  }

  /** Bytes that may not have left the machine yet. */
  get here(): number {
    return Math.min(this.#size, this.left + BUFFERED)
  }

  /** Call this when the credential is granted. Its life begins now. */
  granted(): void {
    this.#granted = this.#options.clock.monotonic()
    this.#grantedAt = this.#wall()
  }

  /** How old the credential is. */
  get age(): number {
    const { clock } = this.#options
    return Math.max(clock.monotonic() - (this.#granted ?? 0), this.#wall() - this.#grantedAt)
  }

  /** What is left of the credential's life, in milliseconds. */
  leftMs(): number {
    const { clock, lifetimeMs } = this.#options
    return this.#granted === null ? lifetimeMs : lifetimeMs - (clock.monotonic() - this.#granted)
  }

  /** Call this when the first byte leaves. */
  began(): void {
    this.#began = this.#options.clock.monotonic()
  }

  /** Call this when the host has the picture. */
  arrived(): void {
    this.#line.proved(this.#rate(this.#size))
    this.#line.lives.took(this.age)
  }

  /** Call this when the credential expired on the way. Returns how slow the upload was, if it had the line for itself. */
  expired(): Slowness | null {
    return this.#line.overrated(this.alone ? this.#rate(this.#size - this.left) : null, this.#size)
  }

  leave(): void {
    this.#line.leave(this)
  }

  #wall(): Millis {
    return (this.#options.wall ?? systemClock.wall)()
  }

  #rate(bytes: number): number {
    return (bytes * 1000) / Math.max(1, this.#options.clock.monotonic() - this.#began)
  }
}

/** The way to the upload nodes. Only so many uploads go at once as end within half of a credential's life at the measured rate.
 * Eight pictures of 10 MB at once on a line of 100 KB/s would need 800 seconds, but a credential lives for 600: all would fail,
 * again and again, and each costs quota. */
export class Line {
  readonly #options: LineOptions
  readonly lives = new Lives()
  readonly #underWay = new Set<Passage>()
  /** A ticket for each upload that waits. Uploads begin in the order of their tickets, so that none waits for ever. */
  readonly #waiting: symbol[] = []
  /** The rate of the fastest upload that arrived lately. 0: a credential expired since, so one upload goes at a time. */
  #rate = ASSUMED_RATE
  #ratedAt = Number.NEGATIVE_INFINITY
  /** The rate of an upload that had the line for itself and was too slow. */
  #slow = { rate: Number.POSITIVE_INFINITY, at: Number.NEGATIVE_INFINITY }

  constructor(options: LineOptions) {
    this.#options = options
  }

  /** Waits until an upload of so many bytes may begin. Null: `signal` was aborted. */
  async enter(size: number, signal: AbortSignal): Promise<Passage | Slowness | null> {
    const ticket = Symbol()
    this.#waiting.push(ticket)
    try {
      while (!signal.aborted) {
        const slow = this.#tooSlowFor(size)
        if (slow) return slow
        if (this.#waiting[0] === ticket && this.#hasRoomFor(size)) return this.admit(size)
        await this.#options.clock.sleep(POLL_MS, signal)
      }
      return null
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(ticket), 1)
    }
  }

  /** Gives an upload a place on the line without waiting, however full the line is. */
  admit(size: number): Passage {
    const passage = new Passage(size, this, this.#options)
    this.#underWay.add(passage)
    if (this.#underWay.size > 1) for (const each of this.#underWay) each.alone = false
    return passage
  }

  leave(passage: Passage): void {
    this.#underWay.delete(passage)
  }

  /** An upload has arrived at this rate, so the line can do at least this. */
  proved(rate: number): void {
    if (rate < this.#rate && this.#isFresh(this.#ratedAt)) return
    this.#rate = rate
    this.#ratedAt = this.#options.clock.monotonic()
    if (rate > this.#slow.rate) this.#slow.at = Number.NEGATIVE_INFINITY
  }

  /** A credential expired on the way. `rate`: that of the upload, if it had the line for itself. `size`: its size. */
  overrated(rate: number | null, size: number): Slowness | null {
    this.#rate = 0
    if (rate === null) return null
    this.#slow = { rate, at: this.#options.clock.monotonic() }
    return this.#tooSlowFor(size)
  }

  /** How slow an upload of so many bytes would be, if even alone it would outlast its credential. Null: it would not. */
  #tooSlowFor(size: number): Slowness | null {
    const { lifetimeMs, ceiling } = this.#options
    const bytesPerSecond = this.#isFresh(this.#slow.at) ? Math.min(this.#slow.rate, ceiling) : ceiling
    const ms = (size * 1000) / bytesPerSecond
    return ms > lifetimeMs ? { ms, bytesPerSecond } : null
  }

  #hasRoomFor(size: number): boolean {
    const { ceiling } = this.#options
    const lifetimeMs = Math.min(this.#options.lifetimeMs, this.lives.ms)
    // A credential that was granted and never used takes room until it has expired.
    for (const passage of this.#underWay) if (passage.leftMs() <= 0) this.#underWay.delete(passage)
    const others = [...this.#underWay]
    if (others.length === 0) return true
    const bytes = others.reduce((sum, { here }) => sum + here, size)
    const soonest = Math.min(...others.map(each => each.leftMs())) - (this.#options.lifetimeMs - lifetimeMs)
    return (bytes * 1000) / Math.min(this.#rate, ceiling) <= soonest - lifetimeMs * (1 - SHARE)
  }

  #isFresh(at: number): boolean {
    return this.#options.clock.monotonic() - at < FRESH_MS
  }
}

/** The most bytes of a piece. A connection that does not take a piece within the timeout counts as dead. */
const PIECE = 64 * 1024
/** How many pieces a second has at least under a limit, so that sending is smooth and each upload gets its turn soon. */
const PIECES_A_SECOND = 16
/** After a pause, uploads may send at once as much as the limit allows in this time. */
const SAVED_MS = 250

/** The limit `uploads.bandwidth` for all uploads together. Pieces wait for their turn in the order in which they come. */
export class Bandwidth {
  readonly #bytesPerSecond: number
  readonly #clock: SteadyClock
  /** When the last byte that was let through will have left, at the full rate. */
  #takenUntil = Number.NEGATIVE_INFINITY

  /** With a rate of Infinity there is no limit. */
  constructor(bytesPerSecond: number, clock: SteadyClock) {
    this.#bytesPerSecond = bytesPerSecond
    this.#clock = clock
  }

  get isUnlimited(): boolean {
    return this.#bytesPerSecond === Number.POSITIVE_INFINITY
  }

  /** The most bytes that a piece may have. */
  get piece(): number {
    return Math.max(1, Math.min(PIECE, Math.floor(this.#bytesPerSecond / PIECES_A_SECOND)))
  }

  /** Waits until so many bytes may be sent, or until `signal` is aborted. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.isUnlimited) return
    const now = this.#clock.monotonic()
    const from = Math.max(this.#takenUntil, now - SAVED_MS)
    this.#takenUntil = from + (bytes / this.#bytesPerSecond) * 1000
    const wait = this.#takenUntil - now
    if (wait > 0) await this.#clock.sleep(wait, signal)
  }
}

/** Cuts a body into pieces, hands them out no faster than the limit allows, and counts them for the line. */
export async function* paced(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bandwidth: Bandwidth,
  passage: { left: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.byteLength; ) {
      const piece = chunk.subarray(at, at + bandwidth.piece)
      at += piece.byteLength
      await bandwidth.take(piece.byteLength, signal)
      yield piece
      passage.left -= piece.byteLength
    }
}
