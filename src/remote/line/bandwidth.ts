import type { Clock } from '../clock.ts'

/** How far what leaves may run ahead of the rate after a rest, in milliseconds of it. */
const AHEAD_MS = 250
/** Pieces a second: fine enough to be smooth, and for all uploads to have their turns. */
const PIECES = 16

/** What all uploads together may take of the line: each piece waits for its turn, in the order of asking. */
export class Bandwidth {
  readonly #bytesPerSecond: number
  readonly #clock: Clock
  /** When all that was let through has left at the rate. */
  #takenUntil = Number.NEGATIVE_INFINITY

  /** Infinity limits nothing. */
  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerSecond = bytesPerSecond
    this.#clock = clock
  }

  get bytesPerSecond(): number {
    return this.#bytesPerSecond
  }

  /** The largest piece that is still smooth, in bytes. */
  pieceOf(most: number): number {
    return Math.max(1, Math.min(most, Math.floor(this.#bytesPerSecond / PIECES)))
  }

  /** Waits until so many bytes may leave, or until `signal` is aborted. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === Number.POSITIVE_INFINITY) return
    const now = this.#clock.now()
    const from = Math.max(this.#takenUntil, now - AHEAD_MS)
    this.#takenUntil = from + (bytes / this.#bytesPerSecond) * 1000
    const wait = this.#takenUntil - now
    if (wait > 0) await this.#clock.sleep(wait, signal)
  }
}
