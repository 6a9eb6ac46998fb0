import { type ByteReader, PAGE } from './byte-reader.ts'
import type { Part } from './part.ts'

/** So many zeros in a row are taken for room that a writer reserved; fewer may be padding. */
export const ROOM = 16
const ZEROS = Buffer.alloc(PAGE)

/** Looks for zeros in ranges of the file, each of which it goes through once. */
export class ZeroPages {
  readonly #reader: ByteReader
  #end = -1
  /** All bytes from here up to the end of the last range are zeros. */
  #zeroFrom = 0

  constructor(reader: ByteReader) {
    this.#reader = reader
  }

  /** `all`: the range is zeros only. `page`: a page of the file is, which may begin in a range right before this one. */
  async take(from: number, to: number): Promise<{ page: boolean; all: boolean }> {
    if (from !== this.#end) this.#zeroFrom = from
    this.#end = to
    let [page, all] = [false, from < to]
    for (let at = from; at < to; ) {
      const start = at
      let next = Math.min(to, pageBehind(at))
      const bytes = await this.#reader.bytes(at, next - at)
      if (bytes === null) return { page, all: false }
      // As many pages as are in memory, because an await for each page costs more than comparing it.
      while (at < to && next <= start + bytes.byteLength) {
        const [first, end] = [at - start, next - start]
        const isZero = bytes[first] === 0 && bytes.compare(ZEROS, 0, end - first, first, end) === 0
        all &&= isZero
        if (!isZero) this.#zeroFrom = next
        page ||= next % PAGE === 0 && next - PAGE >= this.#zeroFrom
        at = next
        next = Math.min(to, pageBehind(at))
      }
    }
    return { page, all }
  }
}

function pageBehind(at: number): number {
  return at - (at % PAGE) + PAGE
}

/** Finds zeros in a row in pieces of a file, also where a row goes on in the next piece. */
export class ZeroRuns {
  readonly #needle: Buffer
  /** The offset of the first row of at least `least` zeros. */
  at: number | null = null
  /** So many zeros stand at the end of what was taken, behind the byte `last`. */
  tail = 0
  last = 0

  constructor(least: number) {
    this.#needle = Buffer.alloc(least)
  }

  /** `offset`: that of the piece, which follows the one before. */
  take(piece: Buffer, offset: number): void {
    if (this.at === null) {
      const first = piece[0] === 0 ? piece.findIndex(byte => byte !== 0) : 0
      const row = this.tail + (first < 0 ? piece.byteLength : first)
      const found = piece.indexOf(this.#needle)
      if (row >= this.#needle.byteLength) this.at = offset - this.tail
      else if (found >= 0) this.at = offset + found
    }
    const last = piece.findLastIndex(byte => byte !== 0)
    this.tail = last < 0 ? this.tail + piece.byteLength : piece.byteLength - 1 - last
    this.last = piece[last] ?? this.last
  }
}

/** The offset of the first byte from `from` on that is not zero; the file's end when there is none. */
export async function endOfZeros(reader: ByteReader, from: number): Promise<number> {
  let at = from
  for await (const piece of reader.pieces(from, reader.size)) {
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
  yield isRoom
    ? { role: 'unwritten', name: 'rest', from, to, flaw: { code: 'zeros', part: 'rest', at: from } }
    : { role: 'stray', name: 'rest', from, to }
}

/** The end of a format whose header states its length. The full length proves little where the file ends with zeros: Windows
 * reserves room for copies to a share, and downloads in segments may write the last one first. */
export async function* walkStatedEnd(reader: ByteReader, end: number): AsyncGenerator<Part, void> {
  if ((await reader.zerosAtEnd()) < ROOM) yield { role: 'end', name: 'end', from: end, to: end, by: 'length' }
  yield* walkRest(reader, end)
}
