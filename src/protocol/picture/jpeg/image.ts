import type { ByteReader } from '../byte-reader.ts'
import { FLAWS, type FlawCode, type Part, type Role } from '../part.ts'
import { exifStates } from '../tiff-directories.ts'
import { ROOM, ZeroRuns } from '../zeros.ts'
import type { Announcements } from './announced.ts'
import { countBlocks, SPARE } from './blocks.ts'
import { EOI, isFrame, isMetadata, JpegTables, nameOf, type ScanComponent, SOS } from './tables.ts'

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
/** So many zeros among compressed pixels, or at the end of a film, may be a hole. */
export const HOLE = 64
const EOI_LENGTH = 2

/** A marker at this offset. Code null: none follows, and the file ends there. */
interface Marker {
  code: number | null
  from: number
}

/** One image of a file. `where`: what its parts' names begin with. `announcements`: gets what its metadata announce. */
export class ImageWalk {
  readonly #reader: ByteReader
  readonly #where: string
  readonly #announcements: Announcements | null
  readonly #tables = new JpegTables()
  /** The components that scans were found for. */
  readonly #scanned = new Set<number>()
  #scan: ScanComponent[] = []
  #hasExif = false

  constructor(reader: ByteReader, where: string, announcements: Announcements | null) {
    this.#reader = reader
    this.#where = where
    this.#announcements = announcements
  }

  /** Yields the image's parts, and returns the offset behind its EOI; null: it is not whole. */
  async *walk(start: number): AsyncGenerator<Part, number | null> {
    yield this.#part('header', 'SOI', start, start + MARKER)
    for (let at = start + MARKER; ; ) {
      const zeros = new ZeroRuns(ROOM)
      const marker = await nextMarker(this.#reader, at, false, zeros)
      // Any number of bytes 0xFF may stand before a marker (T.81, B.1.1.2), and decoders pass over all others.
      if (zeros.at !== null) yield this.#part('unwritten', 'zeros', at, marker.from, 'unwritten', zeros.at)
      else if (marker.from > at) yield this.#part('stray', 'stray bytes', at, marker.from)
      let part = await this.#partAt(marker)
      yield part
      if (marker.code === SOS && !part.flaw) {
        part = await this.#pixels(part.to)
        yield part
      }
      if (part.flaw && FLAWS[part.flaw.code] === 'missing') return null
      if (part.role === 'end') return part.to
      at = part.to
    }
  }

  #part(role: Role, name: string, from: number, to: number, code?: FlawCode | null, at = from): Part {
    const part = { role, name: this.#where + name, from, to }
    return code ? { ...part, flaw: { code, part: part.name, at } } : part
  }

  /** The part that begins with this marker. */
  async #partAt({ code, from }: Marker): Promise<Part> {
    if (code === null) return this.#part('end', 'EOI', from, from, this.#isScanned() ? 'no_end' : 'rows')
    const at = from + MARKER
    if (code === EOI) return this.#part('end', 'EOI', from, at, this.#scan.length > 0 ? null : 'no_pixels')
    const [name, isMeta] = [nameOf(code), isMetadata(code)]
    const role = isMeta ? 'metadata' : 'header'
    const length = (await this.#reader.bytes(at, LENGTH))?.readUInt16BE(0) ?? LENGTH
    if (length < LENGTH) return this.#part(role, name, from, at, isMeta ? 'length' : 'broken')
    const part = this.#part(role, name, from, at + length, at + length > this.#reader.size ? 'cut' : null)
    if (part.flaw) return part
    return isMeta ? this.#metadata(code, at + LENGTH, part) : this.#header(code, at + LENGTH, part)
  }

  /** `at`: the offset of the data. */
  async #header(code: number, at: number, part: Part): Promise<Part> {
    const data = await this.#data(at, part.to)
    this.#tables.take(code, data)
    const { frame } = this.#tables
    if (frame && isFrame(code)) return { ...part, states: { width: frame.width, height: frame.height } }
    if (code !== SOS) return part
    this.#scan = this.#tables.scan(data)
    for (const { id } of this.#scan) this.#scanned.add(id)
    if (this.#scan.length > 0) return part
    return { ...part, flaw: { code: 'no_pixels', part: part.name, at: part.from } }
  }

  async #metadata(code: number, at: number, part: Part): Promise<Part> {
    const found = this.#announcements
    if (found === null || (code !== APP1 && code !== APP2)) return part
    const begins = (await this.#data(at, Math.min(part.to, at + EXIF.length))).toString('latin1')
    if (code === APP2) {
      if (!begins.startsWith(MPF)) return part
      found.takeIndex(await this.#data(at, part.to), at)
      return { ...part, role: 'index' }
    }
    if (begins !== EXIF) found.takeXmp(await this.#data(at, part.to))
    if (begins !== EXIF || this.#hasExif) return part
    this.#hasExif = true
    return { ...part, states: await exifStates(this.#reader, at + EXIF.length) }
  }

  async #data(from: number, to: number): Promise<Buffer> {
    const bytes = await this.#reader.bytes(from, to - from)
    return bytes?.subarray(0, to - from) ?? Buffer.alloc(0)
  }

  /** Whether the image has all that its pixels need when it ends here. Only frames of one scan for each component tell. */
  #isScanned(): boolean {
    const { frame, isSequential } = this.#tables
    return isSequential && frame!.components.every(({ id }) => this.#scanned.has(id))
  }

  /** The compressed pixels from this offset on. Their blocks are counted only where no marker follows or zeros may be a hole. */
  async #pixels(from: number): Promise<Part> {
    const zeros = new ZeroRuns(HOLE)
    const { code, from: to } = await nextMarker(this.#reader, from, true, zeros)
    const image = (flaw?: FlawCode, at = from) => this.#part('image', 'scan', from, to, flaw, at)
    if (from === to) return image('no_pixels')
    if (code !== null && zeros.at === null) return image()
    const units = this.#tables.units(this.#scan)
    if (units === null) return code === null ? image('rows', to) : image('zeros', zeros.at!)
    const { complete, end } = await countBlocks(this.#reader.source, from, to, units)
    if (complete && areBlocks(zeros, end, to, units.mayBeZeros)) return image()
    return zeros.at === null ? image('rows', end) : image('unwritten', zeros.at)
  }
}

/** Whether no hole was taken for blocks of a scan. `end`: the offset behind the last one. `to`: that of the marker. */
function areBlocks(zeros: ZeroRuns, end: number, to: number, mayBeZeros: boolean): boolean {
  if (zeros.at !== null && zeros.at < end - 1 && !mayBeZeros) return false
  // Zeros behind the last byte that was needed are no hole; the first zero behind 0xFF is stuffed.
  const solid = to - zeros.tail + (zeros.last === 0xff && zeros.tail > 0 ? 1 : 0)
  if (solid >= end) return zeros.at === null || solid - end <= SPARE
  // Zeros that were taken for blocks are those where they end with the scan: few, as the last bits may be zeros, or very many
  // of one colour. In room that is not written at least a byte and EOI would be zeros.
  return end === to && (zeros.tail <= EOI_LENGTH || (mayBeZeros && zeros.at !== null))
}

/** Finds the next marker with a segment, or EOI. `before` gets the bytes before it. Among pixels, codes that stand there for no
 * segment are taken for damaged ones. */
async function nextMarker(
  reader: ByteReader,
  start: number,
  isAmongPixels: boolean,
  before: ZeroRuns,
): Promise<Marker> {
  for (let from = start; ; ) {
    const bytes = await reader.bytes(from, MARKER)
    const piece = bytes ?? (await reader.bytes(from, 1)) ?? Buffer.alloc(0)
    const length = bytes ? markerIn(bytes) : piece.byteLength
    const code = piece[length + 1]
    before.take(piece.subarray(0, length), from)
    from += length
    if (bytes === null) return { code: null, from }
    if (code === undefined) continue
    if (!isAmongPixels || code === EOI || (await isSegment(reader, code, from + MARKER)))
      return { code, from }
    before.take(Buffer.of(0xff, code), from)
    from += MARKER
  }
}

/** Where the first marker with a segment, or EOI, begins; otherwise the place of the last byte, which may begin one. */
function markerIn(bytes: Buffer): number {
  const last = bytes.byteLength - 1
  let at = bytes.indexOf(0xff)
  while (at >= 0 && at < last && !isMarker(bytes[at + 1]!)) at = bytes.indexOf(0xff, at + 1)
  return at < 0 ? last : at
}

/** RST0 to RST7 and SOI have no segment; codes below 0xC0 are reserved, and 0xFF is a fill byte. */
function isMarker(code: number): boolean {
  return code >= 0xc0 && code <= 0xfe && (code < 0xd0 || code >= EOI)
}

/** Whether a segment with this code stands here that another marker follows, or the header of a scan. */
async function isSegment(reader: ByteReader, code: number, at: number): Promise<boolean> {
  const length = (await reader.bytes(at, LENGTH))?.readUInt16BE(0) ?? 0
  const bytes = length < LENGTH || length > LONGEST ? null : await reader.bytes(at, length + 1)
  if (bytes === null) return false
  return code === SOS ? length === 6 + 2 * bytes[LENGTH]! : bytes[length] === 0xff
}
