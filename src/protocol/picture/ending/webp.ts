import { type ByteReader, PAGE } from './byte-reader.ts'
import { endingOfLength } from './declared-length.ts'
import { broken, cut, type Ending } from './ending.ts'

const RIFF_HEAD = 8
const FIRST_CHUNK = 12
const CHUNK_HEAD = 8
/** Chunks whose data are compressed pixels. */
const PIXELS = new Set(['VP8 ', 'VP8L', 'ALPH', 'ANMF'])

/** A WebP is as long as its RIFF header says, and its chunks fill it. */
export async function webpEnding(reader: ByteReader): Promise<Ending> {
  const head = await reader.bytes(0, FIRST_CHUNK)
  if (head === null) return cut('its header is missing')
  const end = RIFF_HEAD + head.readUInt32LE(4)
  if (end < FIRST_CHUNK + CHUNK_HEAD) return cut('its length is not written')
  const last = end > reader.size ? null : await lastChunk(reader, end)
  if (last !== null && typeof last === 'object') return last
  // No compressed pixels end so.
  if (last !== null && PIXELS.has(last) && (await reader.zerosAtEnd()) >= PAGE)
    return cut('its end is only zeros')
  return endingOfLength(reader, end, 'it')
}

/** The name of the last chunk before `end`. */
async function lastChunk(reader: ByteReader, end: number): Promise<string | Ending> {
  let last = ''
  let offset = FIRST_CHUNK
  while (offset + CHUNK_HEAD <= end) {
    const chunk = reader.held(offset, CHUNK_HEAD) ?? (await reader.bytes(offset, CHUNK_HEAD))
    if (chunk === null || chunk.readUInt32BE(0) === 0) return broken(offset)
    last = chunk.toString('latin1', 0, 4)
    const length = chunk.readUInt32LE(4)
    offset += CHUNK_HEAD + length + (length % 2)
  }
  // Some writers leave out the padding of an odd last chunk.
  return offset > end + 1 ? cut(`its chunk ${last.trim()} goes on behind its end`) : last
}
