import { readDib, rowBytes } from './bmp.ts'
import { ByteReader, type ByteSource, PAGE } from './byte-reader.ts'
import { FLAWS, type Flaw, type FlawCode, type Part, type Walk } from './part.ts'
import { walkPng } from './png.ts'
import { walkStatedEnd, ZeroPages } from './zeros.ts'

const HEADER = 6
const ENTRY = 16
/** More images than any icon has. A crafted directory may name the same bytes many times. */
const MOST = 1000
const PNG = 0x89504e47
const INFO = 40

interface Entry {
  number: number
  from: number
  length: number
}

/** An ICO's directory says where its images are: PNGs, or BMPs without the header of their file. */
export const walkIco: Walk = async function* (reader) {
  const { size } = reader
  const count = (await reader.bytes(0, HEADER))?.readUInt16LE(4) ?? 0
  const index: Part = { role: 'index', name: 'directory', from: 0, to: HEADER + count * ENTRY }
  const flawed = (code: FlawCode, at: number) => ({ ...index, flaw: { code, part: 'directory', at } })
  if (count === 0 || index.to > size) return yield flawed(count === 0 ? 'unwritten' : 'cut', HEADER)
  const entries = new Map<number, Entry>()
  let sum = 0
  for (let number = 1; number <= count; number++) {
    const at = HEADER + (number - 1) * ENTRY
    const entry = await reader.bytes(at, ENTRY)
    const [length, from] = [entry?.readUInt32LE(8) ?? 0, entry?.readUInt32LE(12) ?? 0]
    if (length === 0 || from === 0) return yield flawed('unwritten', at)
    if (entries.has(from)) continue
    entries.set(from, { number, from, length })
    sum += length
    if (entries.size > MOST || sum > size + MOST * PAGE) return yield flawed('broken', at)
  }
  yield index
  let end = index.to
  for (const entry of [...entries.values()].sort((one, other) => one.from - other.from)) {
    const image = await walkImage(reader, entry)
    yield image
    end = Math.max(end, image.to)
  }
  if (end <= size) yield* walkStatedEnd(reader, end)
}

async function walkImage(reader: ByteReader, { number, from, length }: Entry): Promise<Part> {
  const { size } = reader
  const name = `image ${number}`
  const part = (to: number, code?: FlawCode, at = from): Part => ({
    ...{ role: 'image', name, from, to, by: 'index' },
    ...(code && { flaw: { code, part: name, at } }),
  })
  const stated = from + length
  const head = await reader.bytes(from, 4)
  if (head === null) return part(stated, 'cut', size)
  if (head.readUInt32BE(0) === PNG) {
    const flaw = await flawOfPng(reader, from, Math.min(length, size - from))
    if (flaw) return { ...part(stated), flaw: { ...flaw, part: `${name}, ${flaw.part}`, at: from + flaw.at } }
    // A longer length is no matter where the PNG's own structure says that it is whole.
    return stated > size ? part(size, 'length') : part(stated)
  }
  if (head.readUInt32BE(0) === 0) return part(stated, 'unwritten')
  const pixels = await lengthOfPixels(reader, from)
  if (pixels === null) {
    if (stated > size) return part(stated, 'cut', size)
    return part(stated, (await isHoled(reader, from, stated)) ? 'zeros' : undefined)
  }
  // A mask that the stated length includes is no matter to the pixels, and yet is to be there.
  const least = Math.max(pixels.needed, Math.min(pixels.all, length))
  if (from + least > size) return part(from + least, 'cut', size)
  const to = Math.min(size, from + pixels.all)
  if (await isHoled(reader, from + pixels.start, from + pixels.needed)) return part(to, 'zeros')
  if (stated > size) return part(size, 'length')
  return from + pixels.needed > stated ? part(from + pixels.needed, 'length') : part(Math.max(stated, to))
}

async function isHoled(reader: ByteReader, from: number, to: number): Promise<boolean> {
  const { page, all } = await new ZeroPages(reader).take(from, to)
  return page && !all
}

/** The bytes of a BMP in an icon, from its header: where the colours begin, how many bytes the picture needs, and how many it
 * has with the mask, which pictures with transparency of their own may leave out. Null: another header. */
async function lengthOfPixels(
  reader: ByteReader,
  from: number,
): Promise<{ start: number; needed: number; all: number } | null> {
  const dib = await readDib(reader, from)
  if (dib === null || dib.header !== INFO || dib.width <= 0 || dib.compression % 3 !== 0) return null
  // The stated height is that of the picture and its mask together.
  const rows = Math.floor(dib.height / 2)
  const start = INFO + 4 * dib.colours + (dib.compression === 3 ? 12 : 0)
  const colours = start + rowBytes(dib.width, dib.bits, rows)
  const all = colours + rowBytes(dib.width, 1, rows)
  return { start, needed: dib.bits === 32 ? colours : all, all }
}

/** The worst that is wrong with a PNG of this length. Bytes behind its end are no matter. */
async function flawOfPng({ source }: ByteReader, from: number, length: number): Promise<Flaw | null> {
  const read: ByteSource['read'] = (offset, most) =>
    source.read(from + offset, Math.max(0, Math.min(most, length - offset)))
  let worst: Flaw | null = null
  for await (const { role, flaw } of walkPng(new ByteReader({ size: length, read }))) {
    if (flaw && (worst === null || FLAWS[flaw.code] === 'missing')) worst = flaw
    if (role === 'end') break
  }
  return worst
}
