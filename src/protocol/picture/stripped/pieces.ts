import type { ByteSource } from '../../byte-reader.ts'
import { lengthOf, type Piece } from './rules.ts'

/** Bytes that stand partly in another source. Nothing of that is copied before it is read. */
export class PiecedSource implements ByteSource {
  readonly size: number
  readonly #source: ByteSource
  readonly #pieces: readonly Piece[]
  readonly #starts: number[] = []

  constructor(source: ByteSource, pieces: readonly Piece[]) {
    let size = 0
    for (const piece of pieces) {
      this.#starts.push(size)
      size += lengthOf(piece)
    }
    this.#source = source
    this.#pieces = pieces
    this.size = size
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size)
    const found: Uint8Array[] = []
    let nth = this.#starts.findLastIndex(start => start <= offset)
    for (let at = offset; at < end; nth++) {
      const [piece, start] = [this.#pieces[nth]!, this.#starts[nth]!]
      const [from, to] = [at - start, Math.min(end - start, lengthOf(piece))]
      found.push(
        Buffer.isBuffer(piece)
          ? piece.subarray(from, to)
          : await this.#source.read(piece.from + from, to - from),
      )
      at = start + to
    }
    return found.length === 1 ? found[0]! : Buffer.concat(found)
  }
}

/** The same bytes in fewer pieces. */
export function joined(pieces: Iterable<Piece>): Piece[] {
  const found: Piece[] = []
  for (const piece of pieces) {
    const last = found.at(-1)
    const follows = last && !Buffer.isBuffer(last) && !Buffer.isBuffer(piece) && piece.from === last.to
    if (follows) found[found.length - 1] = { from: last.from, to: piece.to }
    else if (lengthOf(piece) > 0) found.push(piece)
  }
  return found
}
