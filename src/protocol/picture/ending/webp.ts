import { type ByteReader, PAGE } from './byte-reader.ts'
import { endingOfLength } from './declared-length.ts'
import { BLANK, broken, cut, type Ending } from './ending.ts'

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
  const chunks = end > reader.size ? null : await walkChunks(reader, end)
  if (chunks && 'kind' in chunks) return chunks
  // No compressed pixels end so.
  if (chunks && PIXELS.has(chunks.last) && (await reader.zerosAtEnd()) >= PAGE)
    return cut('its end is only zeros')
  return chunks?.blank ? BLANK : endingOfLength(reader, end, 'it')
}

/** The name of the last chunk before `end`, and whether pixels have a page of zeros among them. */
async function walkChunks(
  reader: ByteReader,
  end: number,
): Promise<{ last: string; blank: boolean } | Ending> {
  let last = ''
  let blank = false
  let offset = FIRST_CHUNK
  while (offset + CHUNK_HEAD <= end) {
    const chunk = reader.held(offset, CHUNK_HEAD) ?? (await reader.bytes(offset, CHUNK_HEAD))
    if (chunk === null || chunk.readUInt32BE(0) === 0) return broken(offset)
    last = chunk.toString('latin1', 0, 4)
    const length = chunk.readUInt32LE(4)
    const from = offset
    offset += CHUNK_HEAD + length + (length % 2)
    blank ||= PIXELS.has(last) && (await reader.hasBlankPage(from, Math.min(offset, end)))
  }
  // Some writers leave out the padding of an odd last chunk.
  return offset > end + 1 ? cut(`its chunk ${last.trim()} goes on behind its end`) : { last, blank }
}
