import { type ByteReader, PAGE } from './byte-reader.ts'
import { type FlawCode, flawed, type Part, type Walk } from './part.ts'
import { walkStatedEnd, ZeroPages } from './zeros.ts'

const RIFF_HEAD = 8
const FIRST_CHUNK = 12
const CHUNK_HEAD = 8
/** The header of a frame of an animation; the chunks with its pixels follow in the same chunk. */
const FRAME_HEAD = 16
const PIXELS = new Set(['VP8 ', 'VP8L', 'ALPH'])

/** A WebP's RIFF header states its length, and its chunks fill this length. */
export const walkWebp: Walk = async function* (reader) {
  const head = await reader.bytes(0, FIRST_CHUNK)
  const end = RIFF_HEAD + (head?.readUInt32LE(4) ?? reader.size)
  // Writers that do not know the length yet leave it out.
  const isOpen = end < FIRST_CHUNK + CHUNK_HEAD
  const riff: Part = { role: 'header', name: 'RIFF', from: 0, to: FIRST_CHUNK, by: 'length' }
  const code = end > reader.size ? 'cut' : isOpen && 'unwritten'
  yield flawed(riff, code, 'RIFF', code === 'cut' ? end : 4)
  if (code) return
  let hasPixels = false
  for (let at = FIRST_CHUNK; at + CHUNK_HEAD <= end; ) {
    const chunk = await reader.bytes(at, CHUNK_HEAD)
    const name = chunk?.toString('latin1', 0, 4) ?? ''
    const length = chunk?.readUInt32LE(4) ?? 0
    const to = at + CHUNK_HEAD + (name === 'ANMF' ? FRAME_HEAD : length + (length % 2))
    const part: Part = { role: roleOf(name), name, from: at, to: Math.min(to, end), by: 'length' }
    yield flawed(part, await flawOf(reader, name, at, to, end), `chunk ${name.trim()}`, at)
    hasPixels ||= PIXELS.has(name) && name !== 'ALPH'
    at = to
  }
  if (!hasPixels) yield flawed({ role: 'image', name: 'VP8', from: end, to: end }, 'no_pixels', 'chunk VP8')
  yield* walkStatedEnd(reader, end)
}

/** What is wrong with the chunk from `at` to `to` in a picture that ends at `end`. */
async function flawOf(
  reader: ByteReader,
  name: string,
  at: number,
  to: number,
  end: number,
): Promise<FlawCode | null> {
  if (/^(?:\0{4})?$/.test(name)) return 'unwritten'
  // Some writers leave out the padding of a last chunk of odd length.
  if (to > end + 1) return 'cut'
  const from = at + CHUNK_HEAD
  const { page } = await new ZeroPages(reader).take(from, Math.min(to, end))
  if (!page && (to < end || (await reader.zerosAtEnd()) < PAGE)) return null
  // Compressed pixels have no page of zeros. Only transparency may be stored as it is.
  const isPlain = name === 'ALPH' && ((await reader.bytes(from, 1))?.[0] ?? 0) % 4 === 0
  return PIXELS.has(name) && !isPlain ? 'unwritten' : 'zeros'
}

function roleOf(name: string): Part['role'] {
  if (PIXELS.has(name)) return 'image'
  return name === 'VP8X' || name === 'ANIM' || name === 'ANMF' ? 'header' : 'metadata'
}
