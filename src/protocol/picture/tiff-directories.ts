import { ByteReader } from './byte-reader.ts'
import type { Stated } from './part.ts'

/** How a TIFF is laid out (TIFF 6.0, section 2): offsets in bytes, `valueAt` within an entry. */
const CLASSIC = { pointerAt: 4, pointer: 4, count: 2, entry: 12, valueAt: 8 }
/** The layout of a BigTIFF, which may be larger than 4 GiB. */
const BIG = { pointerAt: 8, pointer: 8, count: 8, entry: 20, valueAt: 12 }
/** The version number in the header of a BigTIFF. A classic TIFF has 42. */
const BIG_VERSION = 43

/** Bytes of BigTIFF's header, the longer one. */
export const HEADER = 16

/** So many entries of a directory are searched. They are sorted by tag, so width and length are near the start. */
const MAX_ENTRIES = 1024
export const IMAGE_WIDTH = 256
export const IMAGE_LENGTH = 257
const ORIENTATION = 274
const THUMBNAIL_AT = 513
const THUMBNAIL_LENGTH = 514
/** The integer types that a number may have: BYTE, SHORT, LONG, BigTIFF's LONG8. */
const INTEGERS = new Set([1, 3, 4, 16])
/** Bytes of one value, by the number of its type (TIFF 6.0, section 2; SubIFDs; BigTIFF). 0: there is no such type. */
const BYTES_OF_TYPE = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]

export const SUB_DIRECTORIES = 330
/** The tags that say where the pixels are and how long they are: for strips, for tiles, and for the JPEG in old TIFFs. */
export const PIXELS = [
  { offsets: 273, lengths: 279 },
  { offsets: 324, lengths: 325 },
  { offsets: THUMBNAIL_AT, lengths: THUMBNAIL_LENGTH },
]

/** So many directories and pieces are read, because a file may be crafted to take long. */
export const MOST_DIRECTORIES = 1000
export const MOST_PIECES = 4_000_000

export const DNG_VERSION = 50_706

/** An entry of a directory: `count` numbers of `bytes` bytes (0: of an unknown type), from the offset `at` on. */
export interface Entry {
  tag: number
  type: number
  count: number
  bytes: number
  at: number
}

/** The directories of a TIFF, and of EXIF, which is built like one. */
export class Tiff {
  readonly #reader: ByteReader
  /** Where the TIFF begins in the file. All pointers in the TIFF count from this offset. */
  readonly #start: number
  readonly #isLittle: boolean
  readonly layout: typeof CLASSIC
  /** The offset of the first directory. 0: the header names none. */
  readonly first: number

  constructor(reader: ByteReader, header: Buffer, start = 0) {
    this.#reader = reader
    this.#start = start
    this.#isLittle = header[0] === 0x49
    this.layout = this.#uint(header, 2, 2) === BIG_VERSION ? BIG : CLASSIC
    this.first = this.#directoryAt(header, this.layout.pointerAt)
  }

  /** The numbers that a directory (the first by default) has for these tags. Null: the file ends within the directory. */
  async numbers(tags: readonly number[], directory = this.first): Promise<Map<number, number> | null> {
    const { from, end } = (directory && (await this.entriesOf(directory))) || { from: 0, end: 0 }
    const { entry } = this.layout
    const found = new Map<number, number>()
    const most = Math.min(end, from + MAX_ENTRIES * entry)
    for (let at = from; at < most && found.size < tags.length; at += entry) {
      const each = await this.entry(at)
      if (each === null) return null
      const isNumber = tags.includes(each.tag) && INTEGERS.has(each.type)
      const bytes = isNumber && (await this.#reader.bytes(each.at, each.bytes))
      if (bytes) found.set(each.tag, this.#uint(bytes, 0, each.bytes))
    }
    return found
  }

  /** The offset of the second directory. 0: there is none. */
  async secondDirectory(): Promise<number> {
    const first = await this.entriesOf(this.first)
    return first ? this.directoryBehind(first.end) : 0
  }

  /** The offset of the next directory, which stands behind the entries of the directory before. 0: there is none. */
  async directoryBehind(end: number): Promise<number> {
    const bytes = await this.#reader.bytes(end, this.layout.pointer)
    return bytes ? this.#directoryAt(bytes, 0) : 0
  }

  /** The offset of the directory that a pointer names. 0: the pointer names none. */
  #directoryAt(bytes: Buffer, at: number): number {
    const directory = this.#uint(bytes, at, this.layout.pointer)
    return directory && this.#start + directory
  }

  /** Where the entries of a directory begin and end. Null: the file ends before the directory. */
  async entriesOf(directory: number): Promise<{ from: number; end: number } | null> {
    const { count, entry } = this.layout
    const head = await this.#reader.bytes(directory, count)
    const from = directory + count
    return head && { from, end: from + this.#uint(head, 0, count) * entry }
  }

  /** The entry at this offset. The numbers that it points at may be missing. Null: the entry itself is missing. */
  async entry(offset: number): Promise<Entry | null> {
    const { entry, pointer, valueAt } = this.layout
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
  async *numbersOf(entry: Entry | undefined): AsyncGenerator<number, void> {
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

/** Whether these are whole numbers that can say where something is. */
export function isWhole(entry: Entry | undefined): entry is Entry {
  return entry !== undefined && [2, 4, 8].includes(entry.bytes)
}

/** What EXIF at this offset says of the picture: how it is turned, and where its small copy lies (EXIF 2.32, 4.6). */
export async function exifStates(reader: ByteReader, start: number): Promise<Stated> {
  const header = await reader.bytes(start, HEADER)
  if (header === null) return {}
  const tiff = new Tiff(reader, header, start)
  const orientation = (await tiff.numbers([ORIENTATION]))?.get(ORIENTATION)
  const small = await tiff.numbers([THUMBNAIL_AT, THUMBNAIL_LENGTH], await tiff.secondDirectory())
  const [at, length] = [small?.get(THUMBNAIL_AT), small?.get(THUMBNAIL_LENGTH)]
  const isThere = at !== undefined && length !== undefined && start + at + length <= reader.size
  return {
    ...(orientation !== undefined && { orientation }),
    ...(isThere && { thumbnail: { at: start + at, length } }),
  }
}
