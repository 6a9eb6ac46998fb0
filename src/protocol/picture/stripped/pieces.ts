import type { ByteSource } from '../../byte-reader.ts'
import { lengthOf, type Piece } from './rules.ts'

/** Bytes that stand partly in another source. Nothing of that is copied before it is read. */
export class PiecedSource implements ByteSource {
  size = 0
  readonly #source: ByteSource
  /** In order, without two that follow each other in the source. */
  readonly #placed: { piece: Piece; start: number }[] = []

  constructor(source: ByteSource, pieces: Iterable<Piece>) {
    this.#source = source
    for (const piece of pieces) {
      const last = this.#placed.at(-1)?.piece
      if (last && !Buffer.isBuffer(last) && !Buffer.isBuffer(piece) && piece.from === last.to)
        last.to = piece.to
      else if (lengthOf(piece) > 0)
        this.#placed.push({ piece: Buffer.isBuffer(piece) ? piece : { ...piece }, start: this.size })
      this.size += lengthOf(piece)
    }
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size)
    const found: Uint8Array[] = []
    let nth = this.#placed.findLastIndex(({ start }) => start <= offset)
    for (let at = offset; at < end; nth++) {
      const { piece, start } = this.#placed[nth]!
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
