import type { SteadyClock } from '../../protocol/clock.ts'

/** The most bytes of a piece. A connection that does not take one piece within the timeout counts as dead. */
const PIECE = 64 * 1024
/** With a limit, a second has at least so many pieces, so that sending is smooth and each upload gets its turn soon. */
const PIECES_A_SECOND = 16
/** After a pause, uploads may at once send what the limit would have allowed in so many milliseconds. */
const SAVED_MS = 250

/** The limit `uploads.bandwidth` for all uploads together. Pieces wait for their turn in the order in which they come. */
export class Bandwidth {
  readonly #bytesPerSecond: number
  readonly #clock: SteadyClock
  /** When the last of the bytes that were let through will have left, if they leave at the full rate. */
  #takenUntil = Number.NEGATIVE_INFINITY

  /** With a rate of Infinity there is no limit. */
  constructor(bytesPerSecond: number, clock: SteadyClock) {
    this.#bytesPerSecond = bytesPerSecond
    this.#clock = clock
  }

  /** The most bytes that a piece may have. */
  get piece(): number {
    return Math.max(1, Math.min(PIECE, Math.floor(this.#bytesPerSecond / PIECES_A_SECOND)))
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

/** Cuts a body into pieces, hands them out no faster than the limit allows, and counts them for the line. */
export async function* paced(
  chunks: AsyncIterable<Uint8Array>,
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
