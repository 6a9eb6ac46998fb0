import type { SteadyClock } from '../../protocol/clock.ts'
import type { Passage } from './line.ts'

/**
 * At first a connection gets pieces of so many bytes. On a slow line it would need so long for a larger piece that the
 * upload would seem to make no progress.
 */
const PIECE = 32 * 1024
/**
 * When a connection takes a piece within so many milliseconds, the next piece is twice as large, because each piece costs
 * some work.
 */
const QUICK_MS = 5
/** The most bytes of a piece. A connection that does not take one piece within the timeout counts as dead. */
const PIECE_MAX = 256 * 1024
/**
 * With a bandwidth limit, a second has at least so many pieces, so that sending is smooth and each upload gets its turn
 * soon.
 */
const PIECES_A_SECOND = 16
/** After a pause, uploads may at once send what the limit would have allowed in so many milliseconds. */
const SAVED_MS = 250

/**
 * The limit `uploads.bandwidth` for all uploads together. Each piece waits for its turn, in the order in which the pieces
 * come. Also without a limit, the uploads share what they learn of the line: how large a piece their connections take
 * quickly.
 */
export class Bandwidth {
  readonly #bytesPerSecond: number
  readonly #clock: SteadyClock
  /** When the last of the bytes that were let through will have left, if they leave at the full rate. */
  #takenUntil = Number.NEGATIVE_INFINITY
  #piece = PIECE

  /** With a rate of Infinity there is no limit. */
  constructor(bytesPerSecond: number, clock: SteadyClock) {
    this.#bytesPerSecond = bytesPerSecond
    this.#clock = clock
  }

  /** The most bytes that the next piece may have. */
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
    const now = this.#clock.monotonic()
    const from = Math.max(this.#takenUntil, now - SAVED_MS)
    this.#takenUntil = from + (bytes / this.#bytesPerSecond) * 1000
    const wait = this.#takenUntil - now
    if (wait > 0) await this.#clock.sleep(wait, signal)
  }
}

/** The line has become too slow for this upload. It ends before its last byte is sent. */
export class LineTooSlow extends Error {
  override name = 'LineTooSlow'
}

export interface Pacing {
  bandwidth: Bandwidth
  passage: Passage
  clock: SteadyClock
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
      const from = clock.monotonic()
      yield piece
      if (!passage.taken(piece.byteLength, from)) throw new LineTooSlow()
      bandwidth.taken(piece.byteLength, clock.monotonic() - from)
    }
}
