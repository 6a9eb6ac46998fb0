import type { ByteReader } from '../byte-reader.ts'
import type { FlawCode, Stated } from './part.ts'

/** Bytes of the header, of a pointer, of the number of entries, and of an entry; and where an entry has its values (TIFF 6.0,
 * section 2). */
export const HEADER = 8
export const [COUNT, ENTRY, VALUE_AT] = [2, 12, 8]
export const POINTER = 4

export const ORIENTATION = 274

/** The types of whole numbers (TIFF 6.0, section 2; SubIFDs). */
const WHOLE = new Set([1, 3, 4, 8, 9, 13])
/** Bytes of one value, by the number of its type. 0: there is no such type. */
const BYTES_OF_TYPE = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]

/** So many entries and numbers are read in all, because a file may be crafted to take long. */
export const MOST_READ = 300_000

/** An entry of a directory: `count` values of `bytes` bytes (0: of an unknown type), from the offset `at` on. `from`: where the
 * entry itself begins. */
export interface Entry {
  tag: number
  from: number
  type: number
  count: number
  bytes: number
  at: number
  isWhole: boolean
}

export interface Directory {
  from: number
  /** The first with each tag. */
  entries: Map<number, Entry>
  count: number
  /** The offset behind the entries, where the pointer to the next directory stands. */
  end: number
  /** The offset of the next directory. 0: there is none. */
  next: number
  /** The first thing that is wrong with an entry. */
  flaw?: { code: FlawCode; part?: string; at?: number }
}

/** The directories of a TIFF, and of EXIF and the index of a multi-picture JPEG, which are built like one. */
export class Tiff {
  readonly reader: ByteReader
  /** Where the TIFF begins in the file. All pointers in the TIFF count from this offset. */
  readonly start: number
  readonly isLittle: boolean
  #left = MOST_READ
  /** The offset of the first directory. 0: the header names none. */
  readonly first: number

  static async at(reader: ByteReader, start = 0): Promise<Tiff> {
    return new Tiff(reader, await reader.slice(start, start + HEADER), start)
  }

  /** That of EXIF, which may have its name in front. */
  static async ofExif(reader: ByteReader, start: number): Promise<Tiff> {
    return Tiff.at(reader, (await reader.text(start, EXIF.length)) === EXIF ? start + EXIF.length : start)
  }

  private constructor(reader: ByteReader, header: Buffer, start: number) {
    this.reader = reader
    this.start = start
    this.isLittle = header[0] === 0x49
    this.first = header.byteLength < HEADER ? 0 : this.#pointer(header, HEADER - POINTER)
  }

  /** Whether no more is read, so that something may be left out. */
  get isReadOut(): boolean {
    return this.#left <= 0
  }

  /** The directory at this offset. Without entries when the file ends before it. */
  async directory(at: number): Promise<Directory> {
    const head = at > 0 ? await this.reader.bytes(at, COUNT) : null
    const count = head ? this.uint(head, 0, COUNT) : 1
    const end = at + COUNT + count * ENTRY
    const found: Directory = { from: at, entries: new Map(), count, end, next: 0 }
    // Some writers leave out the pointer to the next directory behind the last one, at the file's end.
    if (end + POINTER > this.reader.size && end !== this.reader.size) found.flaw = { code: 'cut' }
    for (let offset = at + COUNT; head && offset < end && this.#left-- > 0; offset += ENTRY) {
      const read = await this.reader.bytes(offset, ENTRY)
      if (read === null) break
      this.#take(read, offset, found)
    }
    const next = head && (await this.reader.bytes(end, POINTER))
    if (next) found.next = this.#pointer(next, 0)
    return found
  }

  #take(read: Buffer, offset: number, found: Directory): void {
    const [tag, type] = [this.uint(read, 0, 2), this.uint(read, 2, 2)]
    const values = { count: this.uint(read, 4, 4), bytes: BYTES_OF_TYPE[type] ?? 0 }
    const length = values.count * values.bytes
    // When the values fit into the entry, they stand in it. Otherwise the entry holds a pointer to them.
    const at = length <= POINTER ? offset + VALUE_AT : this.start + this.uint(read, VALUE_AT, POINTER)
    if (tag + type + values.count === 0) found.flaw ??= { code: 'unwritten', at: offset }
    const { size } = this.reader
    if (at + length > size) found.flaw ??= { code: 'cut', part: `tag ${tag}`, at: size }
    if (!found.entries.has(tag))
      found.entries.set(tag, { tag, from: offset, type, ...values, at, isWhole: WHOLE.has(type) })
  }

  /** The first number of each of these entries. */
  async numbers({ entries }: Directory, tags: readonly number[]): Promise<Map<number, number>> {
    const found = new Map<number, number>()
    for (const tag of tags) {
      const { value } = await this.numbersOf(entries.get(tag)).next()
      if (value !== undefined) found.set(tag, value)
    }
    return found
  }

  /** The whole numbers of an entry, up to the file's end. They are taken from one block after the other, whatever else is read. */
  async *numbersOf(entry: Entry | undefined): AsyncGenerator<number, undefined> {
    let [block, at]: [Buffer | null, number] = [null, 0]
    for (let index = 0; entry?.isWhole && index < entry.count && this.#left-- > 0; index++) {
      at += entry.bytes
      if (block === null || at + entry.bytes > block.byteLength)
        [block, at] = [await this.reader.bytes(entry.at + index * entry.bytes, entry.bytes), 0]
      if (block === null) return
      yield this.uint(block, at, entry.bytes)
    }
  }

  /** The offset of the directory that a pointer names. 0: the pointer names none. */
  #pointer(bytes: Buffer, at: number): number {
    const directory = this.uint(bytes, at, POINTER)
    return directory && this.start + directory
  }

  uint(bytes: Buffer, at: number, length: number): number {
    return this.isLittle ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length)
  }

  /** The bytes of a number. */
  bytesOf(number: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    if (this.isLittle) bytes.writeUIntLE(number, 0, length)
    else bytes.writeUIntBE(number, 0, length)
    return bytes
  }
}

/** What EXIF has in front in a JPEG; some writers put it in front elsewhere, too. */
export const EXIF = 'Exif\0\0'

/** What EXIF at this offset says of the picture: how it is turned (EXIF 2.32, 4.6). */
export async function exifStates(reader: ByteReader, start: number): Promise<Stated> {
  const tiff = await Tiff.ofExif(reader, start)
  const first = await tiff.directory(tiff.first)
  const orientation = (await tiff.numbers(first, [ORIENTATION])).get(ORIENTATION)
  return orientation === undefined ? {} : { orientation }
}
