import type { Clock } from '../clock.ts'
import type { Bandwidth } from './bandwidth.ts'
import type { Passage } from './line.ts'

/** Progress is seen in pieces of this size, in bytes: on a slow line a larger one would look like none. */
const PIECE = 32 * 1024
/** A connection that takes a piece within so many milliseconds gets the next one twice as large: each costs a call. */
const QUICK_MS = 5

export interface Pacing {
  bandwidth: Bandwidth
  passage: Passage
  clock: Clock
}

/** The line has become too slow for this upload; its last byte has not left. */
export class LineTooSlow extends Error {
  override name = 'LineTooSlow'
}

/**
 * A body's chunks in pieces, small ones but where the line is quick, and no faster than uploads may go. Throws LineTooSlow
 * where they go too slowly.
 */
export async function* paced(
  chunks: AsyncIterable<Uint8Array>,
  { bandwidth, passage, clock }: Pacing,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let size = PIECE
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.byteLength; ) {
      const piece = chunk.subarray(at, at + bandwidth.pieceOf(size))
      at += piece.byteLength
      await bandwidth.take(piece.byteLength, signal)
      const from = clock.now()
      yield piece
      if (!passage.taken(piece.byteLength, from)) throw new LineTooSlow()
      size = clock.now() - from <= QUICK_MS ? Math.max(size, piece.byteLength * 2) : PIECE
    }
}
