import type { ByteReader } from '../../byte-reader.ts'
import { FLAWS, flawed, type Part } from '../part.ts'
import { ROOM, Zeros } from '../zeros.ts'
import type { Announcements } from './announced.ts'
import { countBlocks, SPARE } from './blocks.ts'
import { EOI, isFrame, JpegTables, nameOf, SOS } from './tables.ts'

/** A segment begins with its marker and with its length, which includes itself. */
const MARKER = 2
const LENGTH = 2

/** Headers and tables are shorter. Between scans, what claims to be a longer one is damaged pixels. */
const LONGEST = 4096
/** From this code on, a segment is APPn, JPGn or COM. */
const METADATA = 0xe0
/** So many zeros among compressed pixels, or at the end of a film, may be a hole. */
export const HOLE = 64

/** A marker at this offset. Code null: none follows, and the file ends there. */
interface Marker {
  code: number | null
  from: number
}

/** Yields the parts of the image that begins at `start`, and returns the offset behind its EOI; null: none was found.
 * `announcements`: gets what its metadata announce. */
export async function* walkImage(
  reader: ByteReader,
  start: number,
  announcements?: Announcements,
): AsyncGenerator<Part, number | null> {
  const tables = new JpegTables()
  yield { role: 'header', name: 'SOI', from: start, to: start + MARKER }
  for (let at = start + MARKER; ; ) {
    const zeros = new Zeros(ROOM)
    const marker = await nextMarker(reader, at, false, zeros)
    // Any number of bytes 0xFF may stand before a marker (T.81, B.1.1.2), and decoders pass over all others.
    const code = zeros.at === null ? null : 'unwritten'
    const between: Part = { role: code ?? 'stray', name: 'stray bytes', from: at, to: marker.from }
    if (marker.from > at) yield flawed(between, code, 'next segment', zeros.at)
    let found = await partAt(reader, marker, tables)
    if (announcements && found.role === 'metadata' && !found.flaw)
      found = await announcements.take(reader, marker.code!, found, found.from + MARKER + LENGTH)
    yield found
    if (marker.code === SOS && !found.flaw) {
      found = await pixelsAt(reader, found.to, tables)
      yield found
    }
    if (found.role === 'end') return found.flaw ? null : found.to
    if (found.flaw && FLAWS[found.flaw.code] === 'missing') return null
    at = found.to
  }
}

async function partAt(reader: ByteReader, { code, from }: Marker, tables: JpegTables): Promise<Part> {
  const at = from + MARKER
  const lacks = tables.scan.length === 0 && 'no_pixels'
  // Whether a progressive picture is whole without its end mark, nobody can tell.
  if (code === null || code === EOI) {
    const end: Part = { role: 'end', name: 'EOI', from, to: code === null ? from : at }
    return flawed(end, lacks || (code === null && (tables.isScanned ? 'no_end' : 'cut')))
  }
  const length = (await reader.bytes(at, LENGTH))?.readUInt16BE(0) ?? LENGTH
  const isMeta = code >= METADATA
  const segment: Part = { role: isMeta ? 'metadata' : 'header', name: nameOf(code), from, to: at + length }
  if (length < LENGTH) return flawed({ ...segment, to: at }, isMeta ? 'length' : 'broken')
  if (segment.to > reader.size) return flawed(segment, 'cut')
  if (isMeta) return segment
  tables.take(code, await reader.slice(at + LENGTH, Math.min(segment.to, at + LONGEST)))
  const { frame, scan } = tables
  if (frame && isFrame(code)) segment.states = { width: frame.width, height: frame.height }
  return flawed(segment, code === SOS && scan.length === 0 && 'no_pixels')
}

/** The compressed pixels from this offset on. Their blocks are counted only where no marker follows or zeros may be a hole. */
async function pixelsAt(reader: ByteReader, from: number, tables: JpegTables): Promise<Part> {
  const zeros = new Zeros(HOLE)
  const { code, from: to } = await nextMarker(reader, from, true, zeros)
  const image: Part = { role: 'image', name: 'scan', from, to }
  if (from === to) return flawed(image, 'no_pixels')
  if (code !== null && zeros.at === null) return image
  const units = tables.units()
  if (units === null) return flawed(image, code !== null && 'zeros', image.name, zeros.at)
  const { complete, end } = await countBlocks(reader.source, from, to, units)
  if (complete && areBlocks(zeros, end, to, units.mayBeZeros)) return image
  return flawed(image, zeros.at === null ? 'rows' : 'unwritten', image.name, zeros.at ?? end)
}

/** Whether no hole was taken for blocks of a scan. `end`: the offset behind the last one. `to`: that of the marker. */
function areBlocks(zeros: Zeros, end: number, to: number, mayBeZeros: boolean): boolean {
  if (zeros.at !== null && zeros.at < end - 1 && !mayBeZeros) return false
  // Zeros behind the last byte that was needed are no hole; the first zero behind 0xFF is stuffed.
  const solid = to - zeros.tail + (zeros.last === 0xff && zeros.tail > 0 ? 1 : 0)
  if (solid >= end) return zeros.at === null || solid - end <= SPARE
  // Zeros that were taken for blocks are those where they end with the scan: few, as the last bits may be zeros, or very many
  // of one colour. In room that is not written at least a byte and EOI would be zeros.
  return end === to && (zeros.tail <= MARKER || (mayBeZeros && zeros.at !== null))
}

/** Finds the next marker with a segment, or EOI. `before` gets the bytes before it. Among pixels, codes that stand there for no
 * segment are taken for damaged ones. */
async function nextMarker(
  reader: ByteReader,
  start: number,
  isAmongPixels: boolean,
  before: Zeros,
): Promise<Marker> {
  for (let from = start; ; ) {
    const bytes = await reader.bytes(from, MARKER)
    const piece = bytes ?? (await reader.slice(from, reader.size))
    const length = bytes ? markerIn(bytes) : piece.byteLength
    const code = piece[length + 1]
    before.take(piece.subarray(0, length), from)
    from += length
    if (bytes === null) return { code: null, from }
    if (code === undefined) continue
    if (!isAmongPixels || code === EOI || (await isSegment(reader, code, from + MARKER)))
      return { code, from }
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
