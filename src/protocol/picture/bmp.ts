import { type ByteReader, PAGE } from '../byte-reader.ts'
import { flawed, type Part, type Walk } from './part.ts'
import { walkStatedEnd, Zeros } from './zeros.ts'

const FILE_HEADER = 14
/** Bytes of the oldest picture header, OS/2's. In this header a dimension has 16 bits; in later headers 32. */
const CORE = 12
/** Bytes of OS/2's next header in its shortest form, and of the header in which the compression stands. */
const SHORT = 16
export const INFO = 40
/** Compressions whose pixels lie as they are. */
const PLAIN = [0, 3, 6]
/** The end mark of pixels in runs. Runs have an even number of bytes. */
const END_MARK = 0x0001

interface Dib {
  width: number
  /** The rows, also where the header states a negative number for rows from the top. */
  height: number
  bits: number
  isPlain: boolean
  /** The stated length of the pixels; 0: not stated. */
  stated: number
  /** Bytes of the header, and of the palette and masks behind it. */
  header: number
  tables: number
}

/** The picture header of a BMP, and of an image in an ICO. Null: cut off. */
export async function readDib(reader: ByteReader, at: number): Promise<Dib | null> {
  const header = await reader.number(at)
  const isCore = header === CORE
  const head = await reader.bytes(at, isCore ? CORE : Math.max(SHORT, Math.min(header, INFO)))
  if (head === null) return null
  const bits = head.readUInt16LE(isCore ? 10 : 14)
  const [compression, stated, used] = header < INFO ? [0, 0, 0] : [16, 20, 32].map(n => head.readUInt32LE(n))
  return {
    ...{ header, bits, isPlain: PLAIN.includes(compression!), stated: stated! },
    width: isCore ? head.readUInt16LE(4) : head.readInt32LE(4),
    height: isCore ? head.readUInt16LE(6) : Math.abs(head.readInt32LE(8)),
    tables: (bits <= 8 ? 4 * (used || 2 ** bits) : 0) + (compression === 3 ? 12 : 0),
  }
}

/** Bytes of rows of pixels, each padded to four bytes. */
export function rowBytes(width: number, bits: number, rows: number): number {
  return 4 * Math.ceil((width * bits) / 32) * rows
}

/** A BMP's header states where its pixels are; the length of the file that it states is often wrong. */
export const walkBmp: Walk = async function* (reader) {
  const { size } = reader
  const dib = await readDib(reader, FILE_HEADER)
  const from = Math.max(await reader.number(10), FILE_HEADER + (dib?.header ?? size))
  const header: Part = { role: 'header', name: 'header', from: 0, to: from }
  if (dib === null) return yield flawed(header, 'cut')
  const { width, height, bits } = dib
  header.states = { width, height }
  const code = from > size ? 'cut' : (width <= 0 || height * bits === 0) && 'no_pixels'
  yield flawed(header, code)
  if (code) return
  const declared = await reader.number(2)
  const image = await pixelsAt(reader, dib, from, declared)
  yield image
  const end = Math.max(declared, image.to)
  if (end <= size) return yield* walkStatedEnd(reader, end)
  const rest: Part = { role: 'stray', name: 'rest', from: image.to, to: Math.max(image.to, size) }
  yield flawed(rest, 'length', 'file', 2)
}

async function pixelsAt(reader: ByteReader, dib: Dib, from: number, declared: number): Promise<Part> {
  const { size } = reader
  const { width, height, bits, isPlain, stated } = dib
  const needed = isPlain ? rowBytes(width, bits, height) : stated || Math.max(0, declared - from)
  // The lengths that are stated for runs may be wrong too, and then their end mark counts.
  const mark = size >= from + 2 && (size - from) % 2 === 0 && (await reader.bytes(size - 2, 2))
  const isMarked =
    !isPlain && (needed === 0 || from + needed > size) && mark && mark.readUInt16BE(0) === END_MARK
  const to = isMarked ? size : from + needed
  const part: Part = { role: 'image', name: 'pixels', from, to }
  const { row, all } = await new Zeros().within(reader, from, Math.min(to, size))
  if (!isPlain && (row !== null || all)) return flawed(part, 'unwritten', part.name, row)
  if (to > size || to === from) return flawed(part, 'cut', part.name, size)
  // Pixels that are all zeros are a black picture: a writer that fills reserved room has begun with more than the header.
  const isDark = isPlain && !all && (row !== null || (await reader.zerosAtEnd()) >= PAGE)
  return flawed(part, isDark && 'zeros', part.name, row ?? size - PAGE)
}
