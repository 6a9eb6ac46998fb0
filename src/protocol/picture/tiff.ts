import { ByteReader, PAGE, type Size } from './byte-reader.ts'
import { BLANK, broken, cut, type Ending, UNCLEAR, WHOLE } from './ending.ts'

/** How a TIFF is laid out (TIFF 6.0, section 2): offsets in bytes, `valueAt` within an entry. */
const CLASSIC = { pointerAt: 4, pointer: 4, count: 2, entry: 12, valueAt: 8 }
/** The layout of a BigTIFF, which may be larger than 4 GiB. */
const BIG = { pointerAt: 8, pointer: 8, count: 8, entry: 20, valueAt: 12 }
/** The version number in the header of a BigTIFF. A classic TIFF has 42. */
const BIG_VERSION = 43

/** Bytes of BigTIFF's header, the longer one. */
const HEADER = 16

/** So many entries of a directory are searched. They are sorted by tag, so width and length are near the start. */
const MAX_ENTRIES = 1024
const IMAGE_WIDTH = 256
const IMAGE_LENGTH = 257
const ORIENTATION = 274
const THUMBNAIL_AT = 513
const THUMBNAIL_LENGTH = 514
/** The integer types that a number may have: BYTE, SHORT, LONG, BigTIFF's LONG8. */
const INTEGERS = new Set([1, 3, 4, 16])
/** Bytes of one value, by the number of its type (TIFF 6.0, section 2; SubIFDs; BigTIFF). 0: there is no such type. */
const BYTES_OF_TYPE = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]

const SUB_DIRECTORIES = 330
/** The tags that say where the pixels are and how long they are: for strips, for tiles, and for the JPEG in old TIFFs. */
const PIXELS = [
  { offsets: 273, lengths: 279 },
  { offsets: 324, lengths: 325 },
  { offsets: THUMBNAIL_AT, lengths: THUMBNAIL_LENGTH },
]

/** So many directories and pieces are read, because a file may be crafted to take long. */
const MOST_DIRECTORIES = 1000
const MOST_PIECES = 4_000_000

const DNG_VERSION = 50_706

/** The size in the first directory of a TIFF, which may be at the file's end; others are further pages or smaller copies.
 * 'raw': a camera's CR2 or DNG, built like a TIFF. NEF and ARW have the tags of scanners' TIFFs. */
export async function readTiffSize(reader: ByteReader): Promise<Size | 'raw' | null> {
  const header = await reader.bytes(0, HEADER)
  if (header === null) return null
  if (/^II\*\0.{4}CR\x02/s.test(header.toString('latin1', 0, HEADER))) return 'raw'
  const found = await new Tiff(reader, header).numbers([IMAGE_WIDTH, IMAGE_LENGTH, DNG_VERSION])
  if (found?.has(DNG_VERSION)) return 'raw'
  const [width, height] = [found?.get(IMAGE_WIDTH), found?.get(IMAGE_LENGTH)]
  return width === undefined || height === undefined ? null : { width, height }
}

/** Orientations from 5 on turn a picture on its side (EXIF 2.32, 4.6.4). */
const FIRST_ON_SIDE = 5
const LAST_ORIENTATION = 8

/** Whether EXIF turns a picture on its side. `start`: the offset of the EXIF block, which is built like a TIFF. */
export async function liesOnSide(reader: ByteReader, start: number): Promise<boolean> {
  const header = await reader.bytes(start, HEADER)
  const found = header && (await new Tiff(reader, header, start).numbers([ORIENTATION]))
  const orientation = found?.get(ORIENTATION) ?? 1
  return orientation >= FIRST_ON_SIDE && orientation <= LAST_ORIENTATION
}

/** `at`: the offset in the file. `orientation`: EXIF's number for the large picture, which the small picture shares. */
export interface ExifThumbnail {
  at: number
  length: number
  orientation: number
}

/** The small JPEG in the EXIF block at `start` (EXIF 2.32, 4.6.2), from the second directory. Null: none in the file. */
export async function exifThumbnail(reader: ByteReader, start: number): Promise<ExifThumbnail | null> {
  const header = await reader.bytes(start, HEADER)
  if (header === null) return null
  const tiff = new Tiff(reader, header, start)
  const large = await tiff.numbers([ORIENTATION])
  const small = large && (await tiff.numbers([THUMBNAIL_AT, THUMBNAIL_LENGTH], await tiff.secondDirectory()))
  const [offset, length] = [small?.get(THUMBNAIL_AT), small?.get(THUMBNAIL_LENGTH)]
  if (offset === undefined || length === undefined || start + offset + length > reader.size) return null
  return { at: start + offset, length, orientation: large?.get(ORIENTATION) ?? 1 }
}

/** All that a TIFF's directories point at must be in the file. Never `closed`: a writer may append a page. */
export async function tiffEnding(reader: ByteReader): Promise<Ending> {
  const header = await reader.bytes(0, HEADER)
  return header ? new Tiff(reader, header).ending() : cut('its header is missing')
}

/** An entry of a directory: `count` numbers of `bytes` bytes (0: of an unknown type), from the offset `at` on. */
interface Entry {
  tag: number
  type: number
  count: number
  bytes: number
  at: number
}

class Tiff {
  readonly #reader: ByteReader
  /** Where the TIFF begins in the file. All pointers in the TIFF count from this offset. */
  readonly #start: number
  readonly #isLittle: boolean
  readonly #layout: typeof CLASSIC
  /** The offset of the first directory. 0: the header names none. */
  readonly #first: number
  /** The directories that were found. `ending` loops over the set while others are added, and visits these too. */
  readonly #directories = new Set<number>()
  #pieces = 0

  constructor(reader: ByteReader, header: Buffer, start = 0) {
    this.#reader = reader
    this.#start = start
    this.#isLittle = header[0] === 0x49
    this.#layout = this.#uint(header, 2, 2) === BIG_VERSION ? BIG : CLASSIC
    this.#first = this.#directoryAt(header, this.#layout.pointerAt)
    this.#enter(this.#first)
  }

  /** The numbers that a directory (the first by default) has for these tags. Null: the file ends within the directory. */
  async numbers(tags: readonly number[], directory = this.#first): Promise<Map<number, number> | null> {
    const { from, end } = (directory && (await this.#entriesOf(directory))) || { from: 0, end: 0 }
    const { entry } = this.#layout
    const found = new Map<number, number>()
    const most = Math.min(end, from + MAX_ENTRIES * entry)
    for (let at = from; at < most && found.size < tags.length; at += entry) {
      const each = await this.#entry(at)
      if (each === null) return null
      const isNumber = tags.includes(each.tag) && INTEGERS.has(each.type)
      const bytes = isNumber && (await this.#reader.bytes(each.at, each.bytes))
      if (bytes) found.set(each.tag, this.#uint(bytes, 0, each.bytes))
    }
    return found
  }

  /** The offset of the second directory. 0: there is none. */
  async secondDirectory(): Promise<number> {
    const first = await this.#entriesOf(this.#first)
    return first ? this.#directoryBehind(first.end) : 0
  }

  async ending(): Promise<Ending> {
    if (this.#directories.size === 0) return cut('its directory is not written')
    let walked = 0
    for (const directory of this.#directories) {
      if (walked++ === MOST_DIRECTORIES) return UNCLEAR
      const ending = await this.#walk(directory)
      if (ending) return ending
    }
    if (this.#pieces === 0) return UNCLEAR
    return (await this.#reader.zerosAtEnd()) >= PAGE ? BLANK : WHOLE
  }

  /** Walks through one directory and what it points at. Null: nothing of it is missing. */
  async #walk(directory: number): Promise<Ending | null> {
    const { entry, pointer } = this.#layout
    const { from, end } = (await this.#entriesOf(directory)) ?? { from: 0, end: Number.POSITIVE_INFINITY }
    const isCut = cut(`its directory at byte ${directory} is cut off`)
    if (end + pointer > this.#reader.size) return isCut
    if (from === end) return broken(directory)
    const found = new Map<number, Entry>()
    for (let at = from; at < end; at += entry) {
      const each = await this.#entry(at)
      if (each === null) return isCut
      if (each.at + each.count * each.bytes > this.#reader.size)
        return cut(`what its tag ${each.tag} points at is missing`)
      found.set(each.tag, each)
    }
    const below = found.get(SUB_DIRECTORIES)
    for await (const directory of this.#numbers(below)) {
      if (this.#directories.size > MOST_DIRECTORIES) return UNCLEAR
      if (directory > 0) this.#enter(this.#start + directory)
    }
    for (const { offsets, lengths } of PIXELS) {
      const ending = await this.#checkPieces(found.get(offsets), found.get(lengths))
      if (ending) return ending
    }
    this.#enter(await this.#directoryBehind(end))
    return null
  }

  #enter(directory: number): void {
    if (directory !== 0) this.#directories.add(directory)
  }

  /** The offset of the next directory, which stands behind the entries of the directory before. 0: there is none. */
  async #directoryBehind(end: number): Promise<number> {
    const bytes = await this.#reader.bytes(end, this.#layout.pointer)
    return bytes ? this.#directoryAt(bytes, 0) : 0
  }

  /** The offset of the directory that a pointer names. 0: the pointer names none. */
  #directoryAt(bytes: Buffer, at: number): number {
    const directory = this.#uint(bytes, at, this.#layout.pointer)
    return directory && this.#start + directory
  }

  /** Checks that all strips or tiles are there. Single ones may have length 0; when all have, no pixels are written yet. */
  async #checkPieces(offsets: Entry | undefined, lengths: Entry | undefined): Promise<Ending | null> {
    if (!isWhole(offsets) || !isWhole(lengths)) return null
    const sizes = this.#numbers(lengths)
    let piece = 0
    let written = 0
    for await (const start of this.#numbers(offsets)) {
      const { done, value: size } = await sizes.next()
      if (done) break
      piece++
      if (++this.#pieces > MOST_PIECES) return UNCLEAR
      if (start + size > this.#reader.size) return cut(`piece ${piece} of its pixels is missing`)
      if (start > 0 && size > 0) written++
    }
    return written === 0 ? cut('its pixels are not written') : null
  }

  /** Where the entries of a directory begin and end. Null: the file ends before the directory. */
  async #entriesOf(directory: number): Promise<{ from: number; end: number } | null> {
    const { count, entry } = this.#layout
    const head = await this.#reader.bytes(directory, count)
    const from = directory + count
    return head && { from, end: from + this.#uint(head, 0, count) * entry }
  }

  /** The entry at this offset. The numbers that it points at may be missing. Null: the entry itself is missing. */
  async #entry(offset: number): Promise<Entry | null> {
    const { entry, pointer, valueAt } = this.#layout
    const read = await this.#reader.bytes(offset, entry)
    if (read === null) return null
    const [tag, type] = [this.#uint(read, 0, 2), this.#uint(read, 2, 2)]
    const count = this.#uint(read, 4, pointer)
    const bytes = BYTES_OF_TYPE[type] ?? 0
    // When the numbers fit into the entry, they stand in it. Otherwise the entry holds a pointer to them.
    const at = bytes * count <= pointer ? offset + valueAt : this.#start + this.#uint(read, valueAt, pointer)
    return { tag, type, count, bytes, at }
  }

  /** The whole numbers of an entry, with a reader of its own, because offsets and lengths are read alternately. */
  async *#numbers(entry: Entry | undefined): AsyncGenerator<number, void> {
    if (!isWhole(entry)) return
    const reader = new ByteReader(this.#reader.source)
    for (let index = 0; index < entry.count; index++) {
      const bytes = await reader.bytes(entry.at + index * entry.bytes, entry.bytes)
      yield bytes ? this.#uint(bytes, 0, entry.bytes) : 0
    }
  }

  /** An unsigned number of 1, 2, 4 or 8 bytes. */
  #uint(bytes: Buffer, at: number, length: number): number {
    if (length === 8) return Number(this.#isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at))
    return this.#isLittle ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length)
  }
}

function isWhole(entry: Entry | undefined): entry is Entry {
  return entry !== undefined && [2, 4, 8].includes(entry.bytes)
}
