import type { ByteReader } from './byte-reader.ts'
import type { Announcements } from './jpeg-announced.ts'
import { type Counted, countBlocks } from './jpeg-blocks.ts'
import { EOI, isMetadata, JpegTables, nameOf, SOS, type Units } from './jpeg-tables.ts'
import { FLAWS, type FlawCode, type Part, type Role } from './part.ts'
import { exifStates } from './tiff-directories.ts'
import { ZeroRuns } from './zero-runs.ts'

/** A segment begins with its marker and with its length, which includes itself. */
const MARKER = 2
const LENGTH = 2
const APP1 = 0xe1
const APP2 = 0xe2
/** The first bytes of an APP1 segment that holds EXIF. */
const EXIF = 'Exif\0\0'
/** Those of an APP2 segment with the index of a multi-picture file (CIPA DC-007). */
const MPF = 'MPF\0'

/** Segments between scans are shorter. What claims to be a longer one is damaged pixels. */
const LONGEST = 4096

/** So many zeros between two parts are room that is not written. Cameras leave fewer stray bytes. */
export const ROOM = 16
/** So many zeros among compressed pixels may be a hole. */
export const HOLE = 64
const EOI_LENGTH = 2
/** Counting may end so many bytes before the data do. */
const SPARE = 3

/** A marker: the offsets of its first byte and behind its last. Code null: none follows, and the file ends at `from`. */
interface Marker {
  code: number | null
  from: number
  to: number
}

/** One image of a file. `where`: what its parts' names begin with. `announcements`: gets what its metadata announce. */
export class ImageWalk {
  readonly #reader: ByteReader
  readonly #where: string
  readonly #announcements: Announcements | null
  readonly #tables = new JpegTables()
  /** The components that scans were found for. */
  readonly #scanned = new Set<number>()
  #scanHeader: Buffer = Buffer.alloc(0)
  #hasExif = false
  #hasStrays = false

  constructor(reader: ByteReader, where: string, announcements: Announcements | null) {
    this.#reader = reader
    this.#where = where
    this.#announcements = announcements
  }

  /** Yields the image's parts, and returns the offset behind its EOI; null: a flaw ends it. */
  async *walk(start: number): AsyncGenerator<Part, number | null> {
    yield this.#part('header', 'SOI', start, start + MARKER)
    for (let at = start + MARKER; ; ) {
      const zeros = new ZeroRuns(ROOM)
      let hasStrays = false
      const marker = await nextMarker(this.#reader, at, (piece, offset) => {
        zeros.take(piece, offset)
        // Any number of bytes 0xFF may stand before a marker (T.81, B.1.1.2).
        hasStrays ||= piece.some(byte => byte !== 0xff)
      })
      if (hasStrays) yield this.#gap(at, marker.from, zeros)
      let part = await this.#partAt(marker)
      yield part
      if (marker.code === SOS && !part.flaw) {
        part = await this.#scan(part.to)
        yield part
      }
      if (part.role === 'end' && !part.flaw) return part.to
      const isLost =
        part.flaw &&
        FLAWS[part.flaw.code] === 'missing' &&
        (part.role !== 'image' || part.to === this.#reader.size)
      if (part.role === 'end' || isLost) return null
      at = part.to
    }
  }

  /** The part that begins with this marker. */
  async #partAt({ code, from, to }: Marker): Promise<Part> {
    if (code === null) {
      const some = this.#scanned.size > 0 ? 'rows' : 'no_pixels'
      return this.#part('end', 'EOI', from, from, this.#isScanned() ? 'no_end' : some)
    }
    if (code === EOI)
      return this.#part('end', 'EOI', from, to, this.#scanned.size > 0 ? undefined : 'no_pixels')
    const [name, isMeta] = [nameOf(code), isMetadata(code)]
    const role = isMeta ? 'metadata' : 'header'
    const length = (await this.#reader.bytes(to, LENGTH))?.readUInt16BE(0) ?? LENGTH
    const end = to + length
    if (length < LENGTH) return this.#part(role, name, from, to, isMeta ? 'length' : 'broken')
    if (end > this.#reader.size) return this.#part(role, name, from, end, 'cut')
    const part = this.#part(role, name, from, end)
    return isMeta ? this.#metadata(code, to + LENGTH, part) : this.#header(code, to + LENGTH, part)
  }

  #part(role: Role, name: string, from: number, to: number, code?: FlawCode, at = from): Part {
    const part = { role, name: this.#where + name, from, to }
    return code ? { ...part, flaw: { code, part: part.name, at } } : part
  }

  #gap(at: number, from: number, zeros: ZeroRuns): Part {
    this.#hasStrays = true
    if (zeros.at !== null) return this.#part('unwritten', 'zeros', at, from, 'unwritten', zeros.at)
    return this.#part('stray', 'stray bytes', at, from, from - at < ROOM ? undefined : 'stray')
  }

  /** `at`: the offset of the data. */
  async #header(code: number, at: number, part: Part): Promise<Part> {
    const data = await this.#data(at, part.to)
    if (code === SOS) {
      this.#scanHeader = Buffer.from(data)
      const scan = this.#tables.scan(data)
      for (const { id } of scan ?? []) this.#scanned.add(id)
      // Where no byte is astray, no table can have been lost.
      if (scan !== null && (!this.#hasStrays || this.#tables.hasTables(scan))) return part
      return { ...part, flaw: { code: 'no_pixels', part: part.name, at: part.from } }
    }
    const isFirst = this.#tables.frame === null && this.#announcements !== null
    this.#tables.take(code, data)
    const { frame } = this.#tables
    return isFirst && frame ? { ...part, states: { width: frame.width, height: frame.height } } : part
  }

  async #metadata(code: number, at: number, part: Part): Promise<Part> {
    const found = this.#announcements
    if (found === null || (code !== APP1 && code !== APP2)) return part
    const begins = (await this.#data(at, Math.min(part.to, at + EXIF.length))).toString('latin1')
    if (code === APP2 && begins.startsWith(MPF)) {
      found.takeIndex(await this.#data(at, part.to), at)
      return { ...part, role: 'index' }
    }
    if (code === APP2) return part
    const isExif = begins.startsWith(EXIF)
    if (!isExif) found.takeXmp(await this.#data(at, part.to))
    if (!isExif || this.#hasExif) return part
    this.#hasExif = true
    return { ...part, states: await exifStates(this.#reader, at + EXIF.length) }
  }

  async #data(from: number, to: number): Promise<Buffer> {
    const bytes = await this.#reader.bytes(from, to - from)
    return bytes?.subarray(0, to - from) ?? Buffer.alloc(0)
  }

  /** Whether the image has all that its pixels need when it ends here. Only frames of one scan for each component tell. */
  #isScanned(): boolean {
    const { frame } = this.#tables
    return this.#tables.isSequential && frame!.components.every(({ id }) => this.#scanned.has(id))
  }

  /** The compressed pixels from this offset on. */
  async #scan(from: number): Promise<Part> {
    const zeros = new ZeroRuns(HOLE)
    const marker = await scanEnd(this.#reader, from, zeros)
    const isCut = marker.code === null
    const to = marker.from
    const image = (code?: FlawCode, at = from) => this.#part('image', 'scan', from, to, code, at)
    if (from === to) return image('no_pixels')
    if (!isCut && zeros.at === null) return image()
    const units = this.#tables.units(this.#tables.scan(this.#scanHeader)!)
    if (units === null) return isCut ? image('rows', to) : image('zeros', zeros.at!)
    const counted = await countBlocks(this.#reader.source, from, to, units)
    const isWhole = allBlocksThere(counted, units, zeros, to, isCut) && (!isCut || this.#isScanned())
    if (isWhole) return image()
    return zeros.at === null ? image('rows', counted.end) : image('unwritten', zeros.at)
  }
}

/** Whether all blocks of a scan that ends at `to` are in their place. `isCut`: no marker follows, because the file ends. */
function allBlocksThere(
  { complete, end, rest }: Counted,
  { mayBeZeros }: Units,
  zeros: ZeroRuns,
  to: number,
  isCut: boolean,
): boolean {
  const hasHole = zeros.at !== null && zeros.at < end - 1 && !mayBeZeros
  if (!complete || hasHole) return false
  // Zeros behind the last byte that was needed are no hole. Those that were taken for pixels may be one.
  const solid = to - zeros.tail + (zeros.last === 0xff && zeros.tail > 0 ? 1 : 0)
  if (solid >= end && solid - end <= SPARE) return true
  if (!isCut) return rest <= SPARE
  // Without a marker, zeros that were taken for pixels are pixels where they end with the file: few, as the last bits may be
  // zeros, or very many of one colour. In room that is not written at least a byte and EOI would be zeros.
  if (solid < end) return end === to && (zeros.tail <= EOI_LENGTH || (mayBeZeros && zeros.at !== null))
  return zeros.at === null
}

/** Finds the next marker with a segment, or EOI. `take` gets the bytes before it, piece by piece. */
async function nextMarker(
  reader: ByteReader,
  start: number,
  take: (piece: Buffer, offset: number) => void,
): Promise<Marker> {
  for (let offset = start; ; ) {
    const bytes = await reader.bytes(offset, MARKER)
    const piece = bytes ?? (await reader.bytes(offset, 1)) ?? Buffer.alloc(0)
    const last = piece.byteLength - (bytes ? 1 : 0)
    const at = bytes ? markerIn(bytes) : last
    take(piece.subarray(0, at), offset)
    offset += at
    if (at < last) return { code: piece[at + 1]!, from: offset, to: offset + MARKER }
    if (bytes === null) return { code: null, from: offset, to: offset }
  }
}

/** Where the first marker with a segment, or EOI, begins; otherwise the place of the last byte, which may begin one. */
function markerIn(bytes: Buffer): number {
  const last = bytes.byteLength - 1
  let at = bytes.indexOf(0xff)
  while (at >= 0 && at < last && !hasSegment(bytes[at + 1]!) && bytes[at + 1] !== EOI)
    at = bytes.indexOf(0xff, at + 1)
  return at < 0 ? last : at
}

/** Finds the marker behind compressed pixels. Codes that stand there for no segment are taken for damaged pixels. */
async function scanEnd(reader: ByteReader, start: number, zeros: ZeroRuns): Promise<Marker> {
  const take = (piece: Buffer, offset: number) => zeros.take(piece, offset)
  for (let at = start; ; ) {
    const marker = await nextMarker(reader, at, take)
    if (marker.code === null || marker.code === EOI || (await isSegment(reader, marker))) return marker
    const skipped = await reader.bytes(marker.from, MARKER)
    if (skipped) take(skipped.subarray(0, MARKER), marker.from)
    at = marker.to
  }
}

/** Whether a segment stands here that another marker follows, or the header of a scan. */
async function isSegment(reader: ByteReader, { code, to }: Marker): Promise<boolean> {
  const length = (await reader.bytes(to, LENGTH))?.readUInt16BE(0) ?? 0
  const bytes = length < LENGTH || length > LONGEST ? null : await reader.bytes(to, length + 1)
  if (bytes === null) return false
  return code === SOS ? length === 6 + 2 * bytes[LENGTH]! : bytes[length] === 0xff
}

/** RST0 to RST7, SOI and EOI have none; codes below 0xC0 are reserved, and 0xFF is a fill byte. */
function hasSegment(code: number): boolean {
  return code >= 0xc0 && code <= 0xfe && (code < 0xd0 || code > EOI)
}
