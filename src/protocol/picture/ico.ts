import { ByteReader, type ByteSource, PAGE } from '../byte-reader.ts'
import { INFO, readDib, rowBytes } from './bmp.ts'
import { flawed, type Part, VerdictFold, type Walk } from './part.ts'
import { walkPng } from './png.ts'
import { walkStatedEnd, Zeros } from './zeros.ts'

const HEADER = 6
const ENTRY = 16
/** More images than any icon has. A crafted directory may name the same bytes many times. */
const MOST = 1000
const PNG = 0x474e5089

/** An ICO's directory says where its images are: PNGs, or BMPs without the header of their file. */
export const walkIco: Walk = async function* (reader) {
  const { size } = reader
  const count = (await reader.number(4)) & 0xffff
  const index: Part = { role: 'index', name: 'directory', from: 0, to: HEADER + Math.max(1, count) * ENTRY }
  const images: Part[] = []
  let [sum, open] = [0, 0]
  for (let nth = 1; nth <= count && count <= MOST; nth++) {
    const at = HEADER + nth * ENTRY
    const [length, from] = [await reader.number(at - 8), await reader.number(at - 4)]
    if (length * from > 0)
      images.push({ role: 'image', name: `image ${nth}`, from, to: from + length, by: 'index' })
    else open ||= at - (length === 0 ? 8 : 4)
    sum += length
  }
  const isCrafted = count > MOST || sum > size + MOST * PAGE
  const code = index.to > size ? 'cut' : isCrafted ? 'broken' : open > 0 && 'unwritten'
  yield flawed(index, code, index.name, code === 'unwritten' ? open : undefined)
  if (code) return
  let end = index.to
  for (const stated of images.sort((one, other) => one.from - other.from)) {
    const image = await imageAt(reader, stated)
    yield image
    end = Math.max(end, image.to)
  }
  if (end <= size) yield* walkStatedEnd(reader, end)
}

async function imageAt(reader: ByteReader, stated: Part): Promise<Part> {
  const { size } = reader
  const { from, to } = stated
  const sign = await reader.number(from)
  if (sign === PNG) return pngAt(reader, stated)
  if (sign === 0) return flawed(stated, from + 4 > size ? 'cut' : 'unwritten')
  const { needed, all } = await endsOf(reader, stated)
  // A mask that the stated length includes is no matter to the pixels, and yet is to be there.
  const least = Math.max(needed, Math.min(all, to))
  if (least > size) return flawed({ ...stated, to: Math.max(least, to) }, 'cut')
  const { row } = await new Zeros().within(reader, from, Math.min(needed, to))
  const part: Part = { ...stated, to: Math.min(size, Math.max(all, to)) }
  if (row !== null) return flawed(part, 'zeros', part.name, row)
  return flawed(part, (to > size || needed > to) && 'length')
}

/** Where a BMP in an icon ends: with all that the picture needs, and with the mask, which pictures with transparency of their own
 * may leave out. One with another header ends where it is stated to. */
async function endsOf(reader: ByteReader, { from, to }: Part): Promise<{ needed: number; all: number }> {
  const dib = await readDib(reader, from)
  if (dib?.header !== INFO || dib.width <= 0 || !dib.isPlain) return { needed: to, all: to }
  // The stated height is that of the picture and its mask together.
  const rows = Math.floor(dib.height / 2)
  const colours = from + INFO + dib.tables + rowBytes(dib.width, dib.bits, rows)
  const all = colours + rowBytes(dib.width, 1, rows)
  return { needed: dib.bits === 32 ? colours : all, all }
}

/** A PNG of this length is judged as one. Bytes behind its end, and a longer length than it has, are no matter. */
async function pngAt({ source, size }: ByteReader, part: Part): Promise<Part> {
  const { from, to, name } = part
  const inside = Math.min(to, size) - from
  const read: ByteSource['read'] = (offset, most) =>
    source.read(from + offset, Math.max(0, Math.min(most, inside - offset)))
  const fold = new VerdictFold()
  for await (const each of walkPng(new ByteReader({ size: inside, read }))) {
    fold.take(each)
    if (each.role === 'end') break
  }
  const verdict = fold.verdict(inside)
  if (verdict.kind !== 'closed')
    return flawed(part, verdict.code, `${name}, ${verdict.part}`, from + verdict.at)
  return flawed({ ...part, to: Math.min(to, size) }, to > size && 'length')
}
