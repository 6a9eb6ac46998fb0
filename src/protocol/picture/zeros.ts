import { type ByteReader, PAGE } from '../byte-reader.ts'
import { flawed, type Part } from './part.ts'

/** So many zeros in a row are taken for room that a writer reserved; fewer may be padding. */
export const ROOM = 16

/** Finds rows of zeros in pieces of a file. A row goes on in a piece that follows the one before. */
export class Zeros {
  readonly #least: number
  #end = 0
  /** The offset of the first row of at least `least` zeros. */
  at: number | null = null
  /** So many zeros stand at the end of what was taken, behind the byte `last`. */
  tail = 0
  last = 0

  /** Usually a page: a hole in a file, and room that a writer reserved, read as pages of zeros. Compressed pixels have none. */
  constructor(least = PAGE) {
    this.#least = least
  }

  /** Only the last byte of a possible row is looked at, and those before it where it is zero: no byte twice. */
  take(piece: Buffer, offset: number): void {
    if (offset !== this.#end) this.tail = 0
    this.#end = offset + piece.byteLength
    let [row, known] = [-this.tail, 0]
    while (this.at === null && row + this.#least <= piece.byteLength) {
      const end = row + this.#least
      let at = end - 1
      while (at >= known && piece[at] === 0) at--
      if (at < known) this.at = offset + row
      else [row, known] = [at + 1, end]
    }
    let last = piece.byteLength - 1
    while (piece[last] === 0) last--
    this.tail = piece.byteLength - 1 - last + (last < 0 ? this.tail : 0)
    this.last = piece[last] ?? this.last
  }

  /** `row`: where the first such row begins that ends between these offsets. `all`: only zeros stand there. */
  async within(reader: ByteReader, from: number, to: number): Promise<{ row: number | null; all: boolean }> {
    this.at = null
    let at = from
    for await (const piece of reader.pieces(from, to)) {
      this.take(piece, at)
      at += piece.byteLength
    }
    return { row: this.at, all: from < to && at === to && this.tail >= to - from }
  }
}

/** The offset of the first byte from `from` on that is not zero; `to`, or the file's end, when there is none before. */
export async function endOfZeros(reader: ByteReader, from: number, to = reader.size): Promise<number> {
  let at = from
  for await (const piece of reader.pieces(from, to)) {
    const found = piece.findIndex(byte => byte !== 0)
    if (found >= 0) return at + found
    at += piece.byteLength
  }
  return at
}

/** What lies behind the end of a picture: nothing, zeros, or bytes that no part of the picture announces. */
export async function* walkRest(reader: ByteReader, from: number): AsyncGenerator<Part, void> {
  const to = reader.size
  if (from >= to) return
  const isRoom = to - from >= ROOM && (await endOfZeros(reader, from)) === to
  yield flawed({ role: isRoom ? 'unwritten' : 'stray', name: 'rest', from, to }, isRoom && 'zeros')
}

/** The end of a format whose header states its length. The full length proves little where the file ends with zeros: Windows
 * reserves room for copies to a share, and downloads in segments may write the last one first. */
export async function* walkStatedEnd(reader: ByteReader, end: number): AsyncGenerator<Part, void> {
  if ((await reader.zerosAtEnd()) < ROOM) yield { role: 'end', name: 'end', from: end, to: end, by: 'length' }
  yield* walkRest(reader, end)
}
