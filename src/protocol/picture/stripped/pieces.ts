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

  /** Whether these are all bytes of the source, and no others. */
  get isAll(): boolean {
    return this.#pieces.length === 1 && !Buffer.isBuffer(this.#pieces[0]) && this.size === this.#source.size
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

/** The same bytes in fewer pieces. New bytes that stand in the source at their place are taken from there. */
export async function joined(source: ByteSource, pieces: Iterable<Piece>): Promise<Piece[]> {
  const found: Piece[] = []
  /** The last piece, when it is of the source. */
  let last: { from: number; to: number } | null = { from: 0, to: 0 }
  for (const piece of pieces) {
    if (lengthOf(piece) === 0) continue
    const isNew = Buffer.isBuffer(piece)
    const follows: boolean =
      last !== null && (isNew ? await stands(source, last.to, piece) : piece.from === last.to)
    if (last && follows) {
      if (last.to === 0) found.push(last)
      last.to += lengthOf(piece)
    } else {
      last = isNew ? null : { ...piece }
      found.push(last ?? piece)
    }
  }
  return found
}

async function stands(source: ByteSource, at: number, bytes: Buffer): Promise<boolean> {
  return at + bytes.byteLength <= source.size && bytes.equals(await source.read(at, bytes.byteLength))
}
