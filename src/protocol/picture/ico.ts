import { readDib, rowBytes } from './bmp.ts'
import { ByteReader, type ByteSource, PAGE } from './byte-reader.ts'
import { flawed, type Part, type Walk } from './part.ts'
import { walkPng } from './png.ts'
import { type Verdict, VerdictFold } from './verdict.ts'
import { walkStatedEnd, ZeroPages } from './zeros.ts'

const HEADER = 6
const ENTRY = 16
/** More images than any icon has. A crafted directory may name the same bytes many times. */
const MOST = 1000
const PNG = 0x89504e47
const INFO = 40

interface Entry {
  name: string
  from: number
  length: number
}

/** An ICO's directory says where its images are: PNGs, or BMPs without the header of their file. */
export const walkIco: Walk = async function* (reader) {
  const { size } = reader
  const count = (await reader.bytes(0, HEADER))?.readUInt16LE(4) ?? 0
  const index: Part = { role: 'index', name: 'directory', from: 0, to: HEADER + count * ENTRY }
  const entries: Entry[] = []
  let sum = 0
  for (let at = HEADER; at < index.to && count <= MOST; at += ENTRY) {
    const entry = await reader.bytes(at, ENTRY)
    const [length, from] = [entry?.readUInt32LE(8) ?? 0, entry?.readUInt32LE(12) ?? 0]
    if (length * from > 0) entries.push({ name: `image ${(at - HEADER) / ENTRY + 1}`, from, length })
    sum += length
  }
  const isCrafted = count > MOST || sum > size + MOST * PAGE
  const isOpen = count === 0 || entries.length < count
  const code = index.to > size ? 'cut' : isCrafted ? 'broken' : isOpen && 'unwritten'
  yield flawed(index, code)
  if (code) return
  let end = index.to
  for (const entry of entries.sort((one, other) => one.from - other.from)) {
    const image = await imageAt(reader, entry)
    yield image
    end = Math.max(end, image.to)
  }
  if (end <= size) yield* walkStatedEnd(reader, end)
}

async function imageAt(reader: ByteReader, { name, from, length }: Entry): Promise<Part> {
  const { size } = reader
  const stated = from + length
  const part = (to: number): Part => ({ role: 'image', name, from, to, by: 'index' })
  const sign = (await reader.bytes(from, 4))?.readUInt32BE(0)
  if (sign === PNG) {
    const inside = await verdictOfPng(reader, from, Math.min(length, size - from))
    if (inside.kind !== 'closed')
      return flawed(part(stated), inside.code, `${name}, ${inside.part}`, from + inside.at)
    // A longer length is no matter where the PNG's own structure says that it is whole.
    return flawed(part(Math.min(stated, size)), stated > size && 'length', name)
  }
  if (sign === 0) return flawed(part(stated), 'unwritten')
  const { start, needed, all } = await lengthsOf(reader, from, length)
  // A mask that the stated length includes is no matter to the pixels, and yet is to be there.
  const least = from + Math.max(needed, Math.min(all, length))
  if (sign === undefined || least > size) return flawed(part(Math.max(least, stated)), 'cut')
  const zeros = await new ZeroPages(reader).take(from + start, from + Math.min(needed, length))
  const to = Math.min(size, Math.max(from + all, stated))
  if (zeros.page && !zeros.all) return flawed(part(to), 'zeros')
  return flawed(part(to), (stated > size || needed > length) && 'length')
}

/** The bytes of a BMP in an icon, from its header: where the colours begin, how many bytes the picture needs, and how many it
 * has with the mask, which pictures with transparency of their own may leave out. Of another header, the stated length. */
async function lengthsOf(reader: ByteReader, from: number, stated: number) {
  const dib = await readDib(reader, from)
  if (dib?.header !== INFO || dib.width <= 0 || !dib.isPlain) return { start: 0, needed: stated, all: stated }
  // The stated height is that of the picture and its mask together.
  const rows = Math.floor(dib.height / 2)
  const start = INFO + dib.tables
  const colours = start + rowBytes(dib.width, dib.bits, rows)
  const all = colours + rowBytes(dib.width, 1, rows)
  return { start, needed: dib.bits === 32 ? colours : all, all }
}

/** The verdict about a PNG of this length. Bytes behind its end are no matter. */
async function verdictOfPng({ source }: ByteReader, from: number, length: number): Promise<Verdict> {
  const read: ByteSource['read'] = (offset, most) =>
    source.read(from + offset, Math.max(0, Math.min(most, length - offset)))
  const fold = new VerdictFold()
  for await (const part of walkPng(new ByteReader({ size: length, read }))) {
    fold.take(part)
    if (part.role === 'end') break
  }
  return fold.verdict(length)
}
