import { type ByteReader, PAGE } from '../byte-reader.ts'
import { flawed, type Part, type Walk } from './part.ts'
import { CHUNK_HEAD } from './png.ts'
import { walkStatedEnd, Zeros } from './zeros.ts'

const RIFF_HEAD = 8
const FIRST_CHUNK = 12
/** The header of a frame of an animation; the chunks with its pixels follow in the same chunk. */
const FRAME_HEAD = 16
const ROLES: Readonly<Record<string, Part['role']>> = {
  ...{ 'VP8 ': 'image', VP8L: 'image', ALPH: 'image', VP8X: 'header', ANIM: 'header', ANMF: 'header' },
}

/** A WebP's RIFF header states its length, and its chunks fill this length. */
export const walkWebp: Walk = async function* (reader) {
  const end = RIFF_HEAD + (await reader.number(4))
  const riff: Part = { role: 'header', name: 'RIFF', from: 0, to: FIRST_CHUNK, by: 'length' }
  // Writers that do not know the length yet leave it out.
  const code = end > reader.size ? 'cut' : end < FIRST_CHUNK + CHUNK_HEAD && 'unwritten'
  yield flawed(riff, code, code === 'cut' ? 'RIFF' : 'length', code === 'cut' ? end : 4)
  if (code) return
  let hasPixels = false
  for (let at = FIRST_CHUNK; at + CHUNK_HEAD <= end; ) {
    const name = (await reader.slice(at, at + 4)).toString('latin1')
    const length = await reader.number(at + 4)
    const to = at + CHUNK_HEAD + (name === 'ANMF' ? FRAME_HEAD : length + (length % 2))
    const role = ROLES[name] ?? 'metadata'
    const part: Part = { role, name, from: at, to: Math.min(to, end), by: 'length' }
    if (name === 'EXIF') part.exif = at + CHUNK_HEAD
    if (name === 'ICCP') part.profile = at + CHUNK_HEAD
    yield await looked(reader, part, to, end)
    hasPixels ||= role === 'image' && name !== 'ALPH'
    at = to
  }
  if (!hasPixels) yield flawed({ role: 'image', name: 'VP8', from: end, to: end }, 'no_pixels', 'chunk VP8')
  yield* walkStatedEnd(reader, end)
}

/** The chunk, which states that it ends at `to`, with what is wrong with it, in a picture that ends at `end`. */
async function looked(reader: ByteReader, part: Part, to: number, end: number): Promise<Part> {
  const { name, role } = part
  const chunk = `chunk ${name.trim()}`
  if (/^(?:\0{4})?$/.test(name)) return flawed(part, 'unwritten', 'next chunk')
  // Some writers leave out the padding of a last chunk of odd length.
  if (to > end + 1) return flawed(part, 'cut', chunk)
  const from = part.from + CHUNK_HEAD
  const { row } = await new Zeros().within(reader, from, part.to)
  if (row === null && (to < end || (await reader.zerosAtEnd()) < PAGE)) return part
  // Only transparency may be stored as it is.
  const [packed = 0] = await reader.slice(from, from + 1)
  const code = role === 'image' && (name !== 'ALPH' || packed % 4 > 0) ? 'unwritten' : 'zeros'
  return flawed(part, code, chunk, row ?? reader.size - PAGE)
}
