import { type ByteReader, PAGE } from './byte-reader.ts'
import { FLAWS, type FlawCode, type Part, type Walk } from './part.ts'
import { walkStatedEnd, ZeroPages } from './zeros.ts'

const RIFF_HEAD = 8
const FIRST_CHUNK = 12
const CHUNK_HEAD = 8
/** The header of a frame of an animation; the chunks with its pixels follow in the same chunk. */
const FRAME_HEAD = 16
const PIXELS = new Set(['VP8 ', 'VP8L', 'ALPH'])

/** A WebP's RIFF header states its length, and its chunks fill this length. */
export const walkWebp: Walk = async function* (reader) {
  const { size } = reader
  const head = await reader.bytes(0, FIRST_CHUNK)
  const end = RIFF_HEAD + (head?.readUInt32LE(4) ?? 0)
  const header = (code?: FlawCode): Part => ({
    ...{ role: 'header', name: 'RIFF', from: 0, to: FIRST_CHUNK, by: 'length' },
    ...(code && { flaw: { code, part: 'RIFF', at: code === 'cut' ? size : 4 } }),
  })
  if (head === null || end > size) return yield header('cut')
  // Writers that do not know the length yet leave it out.
  if (end < FIRST_CHUNK + CHUNK_HEAD) return yield header('unwritten')
  yield header()
  let hasPixels = false
  let at = FIRST_CHUNK
  while (at + CHUNK_HEAD <= end) {
    const chunk = await reader.bytes(at, CHUNK_HEAD)
    const name = chunk?.toString('latin1', 0, 4) ?? ''
    const length = chunk?.readUInt32LE(4) ?? 0
    const to = at + CHUNK_HEAD + (name === 'ANMF' ? FRAME_HEAD : length + (length % 2))
    const code = !chunk?.readUInt32BE(0) ? 'unwritten' : await flawOf(reader, name, at, to, end)
    const flaw = code && { code, part: `chunk ${name.trim()}`, at }
    yield { role: roleOf(name), name, from: at, to: Math.min(to, end), by: 'length', ...(flaw && { flaw }) }
    if (code && FLAWS[code] === 'missing') return
    hasPixels ||= PIXELS.has(name) && name !== 'ALPH'
    at = to
  }
  if (!hasPixels)
    yield {
      role: 'image',
      name: 'VP8',
      from: end,
      to: end,
      flaw: { code: 'no_pixels', part: 'chunk VP8', at: end },
    }
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
