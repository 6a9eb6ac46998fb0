import { layoutOf, readUint, type TiffLayout } from '../tiff.ts'
import type { ByteSource } from '../window.ts'
import { BLANK, ByteReader, broken, cut, type Ending, PAGE, UNCLEAR, WHOLE } from './bytes.ts'

/** Bytes of one value, by type (TIFF 6.0, section 2; SubIFDs; BigTIFF). */
const BYTES_OF_TYPE = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
const SUB_DIRECTORIES = 330
/** Where pixels are, and how many bytes of them: of strips, of tiles, of JPEG in old TIFFs. */
const PIXELS = [
  { offsets: 273, lengths: 279 },
  { offsets: 324, lengths: 325 },
  { offsets: 513, lengths: 514 },
]

/** Far more than real pictures have. The limits end the reading of files that are crafted to take long. */
const MOST_DIRECTORIES = 1000
const MOST_PIECES = 4_000_000

/** The numbers of an entry: their offset in the file, how many there are, and the bytes of each. */
interface Numbers {
  at: number
  count: number
  bytes: number
}

/**
 * Everything that a TIFF's directories point at must be in the file. The ending is never `closed`, because a writer may
 * append a further page at any time.
 */
export async function tiffEnding(source: ByteSource): Promise<Ending> {
  const ending = await new TiffWalk(source).run()
  return ending ?? ((await new ByteReader(source).zerosAtEnd()) >= PAGE ? BLANK : WHOLE)
}

class TiffWalk {
  readonly #source: ByteSource
  readonly #reader: ByteReader
  #layout!: TiffLayout
  #little = true
  readonly #directories: number[] = []
  #pieces = 0

  constructor(source: ByteSource) {
    this.#source = source
    this.#reader = new ByteReader(source)
  }

  /** Null: nothing is missing. */
  async run(): Promise<Ending | null> {
    const header = await this.#reader.bytes(0, 16)
    if (header === null) return cut('its header is missing')
    this.#little = header[0] === 0x49
    this.#layout = layoutOf(viewOf(header), this.#little)
    const first = this.#uint(header, this.#layout.pointerAt, this.#layout.pointer)
    if (first === 0) return cut('its directory is not written')
    this.#enter(first)
    for (let index = 0; index < this.#directories.length; index++) {
      if (index === MOST_DIRECTORIES) return UNCLEAR
      const ending = await this.#walkDirectory(this.#directories[index]!)
      if (ending) return ending
    }
    return this.#pieces === 0 ? UNCLEAR : null
  }

  #enter(directory: number): void {
    if (directory !== 0 && !this.#directories.includes(directory)) this.#directories.push(directory)
  }

  async #walkDirectory(offset: number): Promise<Ending | null> {
    const { count, entry, pointer } = this.#layout
    const head = await this.#reader.bytes(offset, count)
    const entries = head && this.#uint(head, 0, count)
    if (entries === 0) return broken(offset)
    const end = entries && offset + count + entries * entry
    if (!end || end + pointer > this.#reader.size) return cut(`its directory at byte ${offset} is cut off`)
    const found = new Map<number, Numbers>()
    for (let at = offset + count; at < end; at += entry) {
      const bytes = this.#reader.held(at, entry) ?? (await this.#reader.bytes(at, entry))
      if (bytes === null) return cut(`its directory at byte ${offset} is cut off`)
      const tag = this.#uint(bytes, 0, 2)
      const numbers = this.#numbersOf(bytes, at)
      if (numbers === null) return cut(`what its tag ${tag} points at is missing`)
      found.set(tag, numbers)
    }
    const ending = (await this.#enterBelow(found)) ?? (await this.#checkPixels(found))
    const next = await this.#reader.bytes(end, pointer)
    if (next) this.#enter(this.#uint(next, 0, pointer))
    return ending
  }

  /** Null: the numbers are not in the file. */
  #numbersOf(entry: Buffer, at: number): Numbers | null {
    const { pointer, valueAt } = this.#layout
    const bytes = BYTES_OF_TYPE[this.#uint(entry, 2, 2)] ?? 0
    const count = this.#uint(entry, 4, pointer)
    if (bytes * count <= pointer) return { at: at + valueAt, count, bytes }
    const elsewhere = this.#uint(entry, valueAt, pointer)
    return elsewhere + bytes * count > this.#reader.size ? null : { at: elsewhere, count, bytes }
  }

  async #enterBelow(found: Map<number, Numbers>): Promise<Ending | null> {
    const below = found.get(SUB_DIRECTORIES)
    if (!below || !isWhole(below)) return null
    const numbers = new NumberReader(this.#source, below, this.#little)
    for (let index = 0; index < below.count; index++) {
      if (this.#directories.length > MOST_DIRECTORIES) return UNCLEAR
      this.#enter((await numbers.next()) ?? 0)
    }
    return null
  }

  async #checkPixels(found: Map<number, Numbers>): Promise<Ending | null> {
    for (const tags of PIXELS) {
      const [offsets, lengths] = [found.get(tags.offsets), found.get(tags.lengths)]
      if (!offsets || !lengths || !isWhole(offsets) || !isWhole(lengths)) continue
      const ending = await this.#checkPieces(offsets, lengths)
      if (ending) return ending
    }
    return null
  }

  /** Writers leave out single pieces on purpose, with length 0. When all have length 0, the pixels are not written yet. */
  async #checkPieces(offsets: Numbers, lengths: Numbers): Promise<Ending | null> {
    const starts = new NumberReader(this.#source, offsets, this.#little)
    const sizes = new NumberReader(this.#source, lengths, this.#little)
    const count = Math.min(offsets.count, lengths.count)
    let written = 0
    for (let index = 0; index < count; index++) {
      if (++this.#pieces > MOST_PIECES) return UNCLEAR
      const [start, size] = [(await starts.next()) ?? 0, (await sizes.next()) ?? 0]
      if (start + size > this.#reader.size) return cut(`piece ${index + 1} of its pixels is missing`)
      if (start > 0 && size > 0) written++
    }
    return written === 0 ? cut('its pixels are not written') : null
  }

  #uint(bytes: Buffer, at: number, length: 2 | 4 | 8): number {
    return readUint(viewOf(bytes), at, length, this.#little)
  }
}

/** Reads the numbers of an entry one after the other. */
class NumberReader {
  readonly #reader: ByteReader
  readonly #bytes: 2 | 4 | 8
  readonly #little: boolean
  #at: number

  constructor(source: ByteSource, { at, bytes }: Numbers, little: boolean) {
    this.#reader = new ByteReader(source)
    this.#bytes = bytes as 2 | 4 | 8
    this.#little = little
    this.#at = at
  }

  async next(): Promise<number | null> {
    const bytes =
      this.#reader.held(this.#at, this.#bytes) ?? (await this.#reader.bytes(this.#at, this.#bytes))
    this.#at += this.#bytes
    return bytes && readUint(viewOf(bytes), 0, this.#bytes, this.#little)
  }
}

function isWhole({ bytes }: Numbers): boolean {
  return bytes === 2 || bytes === 4 || bytes === 8
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
