import type { Clock } from '../host.ts'
import type { Passage } from './line.ts'

/**
 * Bytes handed to a connection at a time. On a slow line a larger piece would take so long that an upload would look as if
 * it made no progress.
 */
const PIECE = 32 * 1024
/** A connection that takes a piece within this gets the next piece twice as large, because each piece costs some work. */
const QUICK_MS = 5
/** A connection that does not take one piece of these many bytes within the timeout counts as dead. */
const PIECE_MAX = 256 * 1024
/** With a bandwidth limit: pieces a second, so that sending is smooth and all uploads have their turns. */
const PIECES_A_SECOND = 16
/** After a pause, uploads may send this much of the unused bandwidth at once. */
const SAVED_MS = 250

/**
 * The limit `uploads.bandwidth`: all uploads together send no more. Each piece waits for its turn, first come first served.
 * Without a limit too, the uploads share what they learn of the line: how large a piece their connections take quickly.
 */
export class Bandwidth {
  readonly #bytesPerSecond: number
  readonly #clock: Clock
  /** The moment at which all bytes that were let through will have left, when they leave at the full rate. */
  #takenUntil = Number.NEGATIVE_INFINITY
  #piece = PIECE

  /** A rate of Infinity limits nothing. */
  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerSecond = bytesPerSecond
    this.#clock = clock
  }

  /** How many bytes the next piece has at most. */
  get piece(): number {
    return Math.max(1, Math.min(this.#piece, Math.floor(this.#bytesPerSecond / PIECES_A_SECOND)))
  }

  /** A connection took a piece of so many bytes within `ms`. */
  taken(bytes: number, ms: number): void {
    this.#piece = ms <= QUICK_MS ? Math.min(PIECE_MAX, Math.max(this.#piece, bytes * 2)) : PIECE
  }

  /** Waits until so many bytes may be sent, or until `signal` is aborted. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === Number.POSITIVE_INFINITY) return
    const now = this.#clock.now()
    const from = Math.max(this.#takenUntil, now - SAVED_MS)
    this.#takenUntil = from + (bytes / this.#bytesPerSecond) * 1000
    const wait = this.#takenUntil - now
    if (wait > 0) await this.#clock.sleep(wait, signal)
  }
}

/** The line has become too slow for this upload, and its last byte has not been sent. */
export class LineTooSlow extends Error {
  override name = 'LineTooSlow'
}

export interface Pacing {
  bandwidth: Bandwidth
  passage: Passage
  clock: Clock
}

/**
 * Cuts a body into pieces, hands them out no faster than the bandwidth limit allows, and tells the line how fast the
 * connection takes them. Throws LineTooSlow when the line says that the upload has to end.
 */
export async function* paced(
  chunks: AsyncIterable<Uint8Array>,
  { bandwidth, passage, clock }: Pacing,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.byteLength; ) {
      const piece = chunk.subarray(at, at + bandwidth.piece)
      at += piece.byteLength
      await bandwidth.take(piece.byteLength, signal)
      const from = clock.now()
      yield piece
      if (!passage.taken(piece.byteLength, from)) throw new LineTooSlow()
      bandwidth.taken(piece.byteLength, clock.now() - from)
    }
}
