import { ByteReader } from './byte-reader.ts'
import type { FlawCode, Stated } from './part.ts'

/** How a TIFF is laid out (TIFF 6.0, section 2): offsets in bytes, `valueAt` within an entry. */
const CLASSIC = { pointerAt: 4, pointer: 4, count: 2, entry: 12, valueAt: 8 }
/** The layout of a BigTIFF, which may be larger than 4 GiB. */
const BIG = { pointerAt: 8, pointer: 8, count: 8, entry: 20, valueAt: 12 }
/** The version number in the header of a BigTIFF. A classic TIFF has 42. */
const BIG_VERSION = 43

/** Bytes of BigTIFF's header, the longer one. */
export const HEADER = 16

const ORIENTATION = 274
const THUMBNAIL_AT = 513
const THUMBNAIL_LENGTH = 514

/** The types of whole numbers (TIFF 6.0, section 2; SubIFDs; BigTIFF). */
const WHOLE = new Set([1, 3, 4, 8, 9, 13, 16, 17, 18])
/** Bytes of one value, by the number of its type. 0: there is no such type. */
const BYTES_OF_TYPE = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]

/** A directory has each tag once, and tags have 16 bits. */
const MOST_ENTRIES = 2 ** 16
/** So many entries and numbers are read in all, because a file may be crafted to take long. */
const MOST_READ = 4_000_000

/** An entry of a directory: `count` values of `bytes` bytes (0: of an unknown type), from the offset `at` on. */
interface Entry {
  count: number
  bytes: number
  at: number
  isWhole: boolean
}

export interface Directory {
  /** The entries that were asked for, by their tags. */
  entries: Map<number, Entry>
  count: number
  /** The offset behind the entries. The pointer to the next directory follows. */
  end: number
  /** The offset of the next directory. 0: there is none. */
  next: number
  /** The first thing that is wrong with an entry. */
  flaw?: { code: FlawCode; part?: string }
}

/** The directories of a TIFF, and of EXIF, which is built like one. */
export class Tiff {
  readonly #reader: ByteReader
  /** Where the TIFF begins in the file. All pointers in the TIFF count from this offset. */
  readonly #start: number
  readonly #isLittle: boolean
  #left = MOST_READ
  readonly layout: typeof CLASSIC
  /** The offset of the first directory. 0: the header names none. */
  readonly first: number

  constructor(reader: ByteReader, header: Buffer, start = 0) {
    this.#reader = reader
    this.#start = start
    this.#isLittle = header[0] === 0x49
    this.layout = this.#uint(header, 2, 2) === BIG_VERSION ? BIG : CLASSIC
    this.first = this.#pointer(header, this.layout.pointerAt)
  }

  /** The directory at this offset, with its entries for these tags. Without any when the file ends before it. */
  async directory(at: number, tags: readonly number[] = []): Promise<Directory> {
    const { count, entry, pointer, valueAt } = this.layout
    const head = at > 0 ? await this.#reader.bytes(at, count) : null
    const found: Directory = {
      entries: new Map(),
      count: head ? this.#uint(head, 0, count) : 1,
      end: 0,
      next: 0,
    }
    found.end = at + count + found.count * entry
    const last = Math.min(found.end, at + count + MOST_ENTRIES * entry)
    for (let offset = at + count; head && offset < last && this.#left-- > 0; offset += entry) {
      const read = await this.#reader.bytes(offset, entry)
      if (read === null) break
      const [tag, type] = [this.#uint(read, 0, 2), this.#uint(read, 2, 2)]
      const values = { count: this.#uint(read, 4, pointer), bytes: BYTES_OF_TYPE[type] ?? 0 }
      const length = values.count * values.bytes
      // When the values fit into the entry, they stand in it. Otherwise the entry holds a pointer to them.
      const isInside = length <= pointer
      const from = isInside ? offset + valueAt : this.#start + this.#uint(read, valueAt, pointer)
      if (tag + type + values.count === 0) found.flaw ??= { code: 'unwritten' }
      if (from + length > this.#reader.size) found.flaw ??= { code: 'cut', part: `tag ${tag}` }
      if (tags.includes(tag) && !found.entries.has(tag))
        found.entries.set(tag, { ...values, at: from, isWhole: WHOLE.has(type) })
    }
    const next = head && (await this.#reader.bytes(found.end, pointer))
    if (next) found.next = this.#pointer(next, 0)
    return found
  }

  /** The first number of each of these entries. */
  async numbers({ entries }: Directory, tags: readonly number[]): Promise<Map<number, number>> {
    const found = new Map<number, number>()
    for (const tag of tags) {
      const entry = entries.get(tag)
      const bytes = entry?.isWhole && (await this.#reader.bytes(entry.at, entry.bytes))
      if (bytes) found.set(tag, this.#uint(bytes, 0, entry.bytes))
    }
    return found
  }

  /** The whole numbers of an entry, up to the file's end. They have a reader of their own, because offsets and lengths are
   * read alternately. */
  async *numbersOf(entry: Entry | undefined): AsyncGenerator<number, void> {
    const reader = new ByteReader(this.#reader.source)
    for (let index = 0; entry?.isWhole && index < entry.count && this.#left-- > 0; index++) {
      const bytes = await reader.bytes(entry.at + index * entry.bytes, entry.bytes)
      if (bytes === null) return
      yield this.#uint(bytes, 0, entry.bytes)
    }
  }

  /** The offset of the directory that a pointer names. 0: the pointer names none. */
  #pointer(bytes: Buffer, at: number): number {
    const directory = this.#uint(bytes, at, this.layout.pointer)
    return directory && this.#start + directory
  }

  /** An unsigned number of 1, 2, 4 or 8 bytes. */
  #uint(bytes: Buffer, at: number, length: number): number {
    if (length === 8) return Number(this.#isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at))
    return this.#isLittle ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length)
  }
}

/** What EXIF at this offset says of the picture: how it is turned, and where its small copy lies (EXIF 2.32, 4.6). */
export async function exifStates(reader: ByteReader, start: number): Promise<Stated> {
  const header = await reader.bytes(start, HEADER)
  if (header === null) return {}
  const tiff = new Tiff(reader, header, start)
  const first = await tiff.directory(tiff.first, [ORIENTATION])
  const orientation = (await tiff.numbers(first, [ORIENTATION])).get(ORIENTATION)
  const tags = [THUMBNAIL_AT, THUMBNAIL_LENGTH]
  const small = await tiff.numbers(await tiff.directory(first.next, tags), tags)
  const [at, length] = [small.get(THUMBNAIL_AT), small.get(THUMBNAIL_LENGTH)]
  const isThere = at !== undefined && length !== undefined && start + at + length <= reader.size
  return {
    ...(orientation !== undefined && { orientation }),
    ...(isThere && { thumbnail: { at: start + at, length } }),
  }
}
