import { type ByteReader, PAGE } from './byte-reader.ts'
import { FLAWS, type FlawCode, type Part, type Walk } from './part.ts'
import { walkStatedEnd, ZeroPages } from './zeros.ts'

const FILE_HEADER = 14
/** Bytes of the oldest picture header, OS/2's. In this header a dimension has 16 bits; in later headers 32. */
const CORE = 12
/** OS/2's next header, in its shortest form and in full. */
const SHORT = 16
const OS2 = 64
/** Bytes of a picture header in which the compression stands. */
const INFO = 40
/** Numbers of compressions. OS/2 means another one by 3. */
const PLAIN = [0, 3, 6]
const RLE8 = 1
const RLE4 = 2

interface Dib {
  width: number
  height: number
  bits: number
  compression: number
  /** The stated length of the pixels; 0: not stated. */
  stated: number
  header: number
  /** Colours of the palette. */
  colours: number
}

/** The picture header of a BMP, and of an image in an ICO. Null: cut off. A negative height: rows from the top. */
export async function readDib(reader: ByteReader, at: number): Promise<Dib | null> {
  const header = (await reader.bytes(at, 4))?.readUInt32LE(0) ?? 0
  const isCore = header === CORE
  const head = await reader.bytes(at, isCore ? CORE : Math.max(SHORT, Math.min(header, INFO)))
  if (head === null) return null
  const bits = head.readUInt16LE(isCore ? 10 : 14)
  const isLong = header >= INFO
  const compression = isLong ? head.readUInt32LE(16) : 0
  const used = isLong ? head.readUInt32LE(32) : 0
  return {
    ...{ header, bits, colours: bits <= 8 ? used || 2 ** bits : 0 },
    width: isCore ? head.readUInt16LE(4) : head.readInt32LE(4),
    height: isCore ? head.readUInt16LE(6) : Math.abs(head.readInt32LE(8)),
    compression: header === OS2 && compression > RLE4 ? Number.NaN : compression,
    stated: isLong ? head.readUInt32LE(20) : 0,
  }
}

/** Bytes of rows of pixels, each padded to four bytes. */
export function rowBytes(width: number, bits: number, rows: number): number {
  return 4 * Math.ceil((width * bits) / 32) * rows
}

/** A BMP's header states where its pixels are; the length of the file that it states is often wrong. */
export const walkBmp: Walk = async function* (reader) {
  const { size } = reader
  const head = await reader.bytes(0, FILE_HEADER)
  const dib = await readDib(reader, FILE_HEADER)
  const [declared, offset] = [head?.readUInt32LE(2) ?? 0, head?.readUInt32LE(10) ?? 0]
  const from = Math.max(offset, FILE_HEADER + (dib?.header ?? CORE))
  const header: Part = { role: 'header', name: 'header', from: 0, to: from }
  if (dib === null) return yield { ...header, flaw: { code: 'cut', part: 'header', at: size } }
  const { width, height, bits } = dib
  header.states = { width, height }
  if (from > size) return yield { ...header, flaw: { code: 'cut', part: 'header', at: size } }
  if (width <= 0 || height === 0 || bits === 0)
    return yield { ...header, flaw: { code: 'no_pixels', part: 'header', at: FILE_HEADER } }
  yield header
  const image = await walkPixels(reader, dib, from, declared)
  yield image
  if (image.flaw && FLAWS[image.flaw.code] === 'missing') return
  const end = Math.max(declared, image.to)
  if (end <= size) return yield* walkStatedEnd(reader, end)
  const flaw = { code: 'length', part: 'header', at: 2 } as const
  yield { role: 'stray', name: 'rest', from: image.to, to: size, flaw }
}

async function walkPixels(reader: ByteReader, dib: Dib, from: number, declared: number): Promise<Part> {
  const { width, height, bits, compression, stated } = dib
  const { size } = reader
  const part = (to: number, code?: FlawCode): Part => ({
    ...{ role: 'image', name: 'pixels', from, to },
    ...(code && { flaw: { code, part: 'pixels', at: code === 'cut' ? size : from } }),
  })
  const isPlain = PLAIN.includes(compression)
  const runs = compression === RLE8 || compression === RLE4 ? await walkRuns(reader, from, dib) : null
  const end = runs?.end ?? (stated > 0 ? from + stated : Math.max(from, declared))
  const to = isPlain ? from + rowBytes(width, bits, height) : end
  const { page, all } = await new ZeroPages(reader).take(from, Math.min(to, size))
  // Runs and other compressed pixels have no page of zeros.
  if (!isPlain && (page || all)) return part(to, 'unwritten')
  if (to > size) return part(to, 'cut')
  if (!isPlain) return part(to, runs?.code)
  // Pixels that are all zeros are a black picture: a writer that fills reserved room has begun with more than the header.
  const isDark = !all && (page || (await reader.zerosAtEnd()) >= PAGE)
  return part(to, isDark ? 'zeros' : undefined)
}

/** The offset behind the pixels in runs, which an end mark ends: a zero and a one. Without it the rows are counted. */
async function walkRuns(
  reader: ByteReader,
  from: number,
  { width, height, compression }: Dib,
): Promise<{ end: number; code?: 'no_end' | 'cut' }> {
  let [x, y] = [0, 0]
  const bytesPerPair = compression === RLE4 ? 4 : 2
  /** Takes the run at `at`, and returns the offset behind it. Null: the end mark. */
  const take = (bytes: Buffer, at: number): number | null => {
    const [count, value] = [bytes[at]!, bytes[at + 1]!]
    if (count > 0) x += count
    else if (value === 1) return null
    else if (value === 0) [x, y] = [0, y + 1]
    else if (value === 2) [x, y] = [x + bytes[at + 2]!, y + bytes[at + 3]!]
    else x += value
    // Single pixels follow their number, and are padded to two bytes.
    return at + 2 + (count > 0 || value < 2 ? 0 : 2 * Math.ceil(value / bytesPerPair))
  }
  for (let offset = from; ; ) {
    // A step to another pixel has four bytes, and other runs two; an end mark may be the last two.
    const bytes = (await reader.bytes(offset, 4)) ?? (await reader.bytes(offset, 2))
    if (bytes === null) {
      const isWhole = y >= height || (y === height - 1 && x >= width)
      return { end: reader.size, code: isWhole && offset === reader.size ? 'no_end' : 'cut' }
    }
    let at: number | null = 0
    for (let end = 0; end === 0 || end + 4 <= bytes.byteLength; end = at) {
      at = take(bytes, end)
      if (at === null) return { end: offset + end + 2 }
    }
    offset += at
  }
}
