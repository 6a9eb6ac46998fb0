import { ByteReader, PAGE } from './byte-reader.ts'
import { BLANK, broken, cut, type Ending, UNCLEAR, WHOLE } from './ending.ts'
import { plausible, type Size } from './header.ts'

/** How a TIFF is laid out, in bytes. */
interface Layout {
  /** Offset in the file of the pointer to the first directory. */
  pointerAt: number
  pointer: number
  count: number
  entry: number
  /** Offset of the value in an entry. */
  valueAt: number
  /** An unsigned number of 2, 4 or 8 bytes. */
  uint: (bytes: Buffer, at: number, length: number) => number
}

/** TIFF 6.0, section 2. */
const CLASSIC = { pointerAt: 4, pointer: 4, count: 2, entry: 12, valueAt: 8 }
/** BigTIFF, for files beyond 4 GiB. */
const BIG = { pointerAt: 8, pointer: 8, count: 8, entry: 20, valueAt: 12 }
/** The version of BigTIFF. A TIFF has 42. */
const BIG_VERSION = 43

/** How TIFF and BigTIFF begin, in either byte order. */
export const TIFF_HEADER = /^(?:II[*+]\0|MM\0[*+])/

/** `header`: the first bytes of a TIFF. */
function layoutOf(header: Buffer): Layout {
  const isLittle = header[0] === 0x49
  const uint = (bytes: Buffer, at: number, length: number) => {
    if (length === 8) return Number(isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at))
    return isLittle ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length)
  }
  return { ...(uint(header, 2, 2) === BIG_VERSION ? BIG : CLASSIC), uint }
}

/** Real directories have a few dozen entries. Entries are sorted by tag, so width and length are near the start. */
const MAX_ENTRIES = 1024
const IMAGE_WIDTH = 256
const IMAGE_LENGTH = 257
/** The integer types that a dimension may have: SHORT, LONG, BigTIFF's LONG8. */
const INTEGERS = new Set([3, 4, 16])
/** Bytes of one value, by type (TIFF 6.0, section 2; SubIFDs; BigTIFF). */
const BYTES_OF_TYPE = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]

/**
 * The size in the first directory of a TIFF. The directory may be at the end of the file, because many writers write it
 * after the pixels. Other directories are further pages or smaller copies.
 */
export async function readTiffSize(reader: ByteReader): Promise<Size | null> {
  const header = await reader.bytes(0, 16)
  if (header === null) return null
  const { uint, pointerAt, pointer, count, entry, valueAt } = layoutOf(header)
  const directory = uint(header, pointerAt, pointer)
  const head = await reader.bytes(directory, count)
  const entries = head ? Math.min(uint(head, 0, count), MAX_ENTRIES) : 0
  const dimensions = new Map<number, number>()
  for (let index = 0; index < entries && dimensions.size < 2; index++) {
    const bytes = await reader.bytes(directory + count + index * entry, entry)
    if (bytes === null) return null
    const [tag, type] = [uint(bytes, 0, 2), uint(bytes, 2, 2)]
    const length = INTEGERS.has(type) ? BYTES_OF_TYPE[type]! : pointer + 1
    // A single number is in the first bytes of the value field in both byte orders.
    if ((tag === IMAGE_WIDTH || tag === IMAGE_LENGTH) && length <= pointer)
      dimensions.set(tag, uint(bytes, valueAt, length))
  }
  return plausible(dimensions.get(IMAGE_WIDTH), dimensions.get(IMAGE_LENGTH))
}

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
export async function tiffEnding(reader: ByteReader): Promise<Ending> {
  const header = await reader.bytes(0, 16)
  if (header === null) return cut('its header is missing')
  const ending = await new TiffWalk(reader, layoutOf(header)).run(header)
  return ending ?? ((await reader.zerosAtEnd()) >= PAGE ? BLANK : WHOLE)
}

class TiffWalk {
  readonly #reader: ByteReader
  readonly #layout: Layout
  /** A set keeps its order, and a loop over it also meets what is added meanwhile. */
  readonly #directories = new Set<number>()
  #pieces = 0

  constructor(reader: ByteReader, layout: Layout) {
    this.#reader = reader
    this.#layout = layout
  }

  /** Null: nothing is missing. */
  async run(header: Buffer): Promise<Ending | null> {
    const { uint, pointerAt, pointer } = this.#layout
    this.#enter(uint(header, pointerAt, pointer))
    if (this.#directories.size === 0) return cut('its directory is not written')
    let walked = 0
    for (const directory of this.#directories) {
      if (walked++ === MOST_DIRECTORIES) return UNCLEAR
      const ending = await this.#walkDirectory(directory)
      if (ending) return ending
    }
    return this.#pieces === 0 ? UNCLEAR : null
  }

  #enter(directory: number): void {
    if (directory !== 0) this.#directories.add(directory)
  }

  async #walkDirectory(offset: number): Promise<Ending | null> {
    const { count, entry, pointer, uint } = this.#layout
    const head = await this.#reader.bytes(offset, count)
    const entries = head && uint(head, 0, count)
    if (entries === 0) return broken(offset)
    const end = entries && offset + count + entries * entry
    if (!end || end + pointer > this.#reader.size) return cut(`its directory at byte ${offset} is cut off`)
    const found = new Map<number, Numbers>()
    for (let at = offset + count; at < end; at += entry) {
      const bytes = await this.#reader.bytes(at, entry)
      if (bytes === null) return cut(`its directory at byte ${offset} is cut off`)
      const tag = uint(bytes, 0, 2)
      const numbers = this.#numbersOf(bytes, at)
      if (numbers === null) return cut(`what its tag ${tag} points at is missing`)
      found.set(tag, numbers)
    }
    const ending = (await this.#enterBelow(found)) ?? (await this.#checkPixels(found))
    const next = await this.#reader.bytes(end, pointer)
    if (next) this.#enter(uint(next, 0, pointer))
    return ending
  }

  /** Null: the numbers are not in the file. */
  #numbersOf(entry: Buffer, at: number): Numbers | null {
    const { pointer, valueAt, uint } = this.#layout
    const bytes = BYTES_OF_TYPE[uint(entry, 2, 2)] ?? 0
    const count = uint(entry, 4, pointer)
    if (bytes * count <= pointer) return { at: at + valueAt, count, bytes }
    const elsewhere = uint(entry, valueAt, pointer)
    return elsewhere + bytes * count > this.#reader.size ? null : { at: elsewhere, count, bytes }
  }

  async #enterBelow(found: Map<number, Numbers>): Promise<Ending | null> {
    const below = found.get(SUB_DIRECTORIES)
    if (!below || !isWhole(below)) return null
    for await (const directory of this.#read(below)) {
      if (this.#directories.size > MOST_DIRECTORIES) return UNCLEAR
      this.#enter(directory)
    }
    return null
  }

  async #checkPixels(found: Map<number, Numbers>): Promise<Ending | null> {
    for (const tags of PIXELS) {
      const [offsets, lengths] = [found.get(tags.offsets), found.get(tags.lengths)]
      const ending = offsets && lengths && (await this.#checkPieces(offsets, lengths))
      if (ending) return ending
    }
    return null
  }

  /** Writers leave out single pieces on purpose, with length 0. When all have length 0, the pixels are not written yet. */
  async #checkPieces(offsets: Numbers, lengths: Numbers): Promise<Ending | null> {
    if (!isWhole(offsets) || !isWhole(lengths)) return null
    const sizes = this.#read(lengths)
    let piece = 0
    let written = 0
    for await (const start of this.#read(offsets)) {
      const { done, value: size } = await sizes.next()
      if (done) break
      piece++
      if (++this.#pieces > MOST_PIECES) return UNCLEAR
      if (start + size > this.#reader.size) return cut(`piece ${piece} of its pixels is missing`)
      if (start > 0 && size > 0) written++
    }
    return written === 0 ? cut('its pixels are not written') : null
  }

  /** The numbers of an entry, one after the other. It has a reader of its own, because two lists are read side by side. */
  async *#read({ at, count, bytes: length }: Numbers): AsyncGenerator<number, void> {
    const reader = new ByteReader(this.#reader.source)
    for (let index = 0; index < count; index++) {
      const bytes = await reader.bytes(at + index * length, length)
      yield bytes ? this.#layout.uint(bytes, 0, length) : 0
    }
  }
}

function isWhole({ bytes }: Numbers): boolean {
  return bytes === 2 || bytes === 4 || bytes === 8
}
