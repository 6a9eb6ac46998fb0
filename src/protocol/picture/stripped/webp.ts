import { walkWebp } from '../webp.ts'
import { lengthOf, type Rules, type Taken } from './rules.ts'

const CHUNK_HEAD = 8
/** The length of the chunk with the features of the picture. */
const FEATURES = CHUNK_HEAD + 10
/** The bits of the features that announce chunks. */
const [HAS_EXIF, HAS_XMP] = [0x08, 0x04]

const NEEDED = new Set(['VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ICCP'])
/** The headers of pixels, which some read although they go on behind their chunk. */
const HEADERS: Readonly<Record<string, number>> = { 'VP8 ': 10, VP8L: 5 }

export const webpRules: Rules = {
  walk: walkWebp,
  exifAt: async ({ name, from }) => (name === 'EXIF' ? from + CHUNK_HEAD : null),
  exif(tiff) {
    const head = Buffer.from('EXIF\0\0\0\0')
    head.writeUInt32LE(tiff.byteLength, 4)
    return Buffer.concat([head, tiff, Buffer.alloc(tiff.byteLength % 2)])
  },
  async take({ name, from, to }, reader, hasExif) {
    if (NEEDED.has(name)) return to - from >= CHUNK_HEAD + (HEADERS[name] ?? 0)
    const isFeatures = name === 'VP8X' && to - from === FEATURES
    if (name !== 'RIFF' && name !== 'ANMF' && !isFeatures) return false
    const bytes = Buffer.from(await reader.slice(from, to))
    if (isFeatures) bytes[CHUNK_HEAD]! &= hasExif ? ~HAS_XMP : ~(HAS_XMP | HAS_EXIF)
    return bytes
  },
  measure,
}

/** Writes the length of the whole, and of each frame, which consists of the chunks behind its header. False: a frame does not end
 * where a chunk does. */
function measure(taken: readonly Taken[]): boolean {
  let size = 0
  let frame: { head: Buffer; begin: number; end: number } | null = null
  let last = 0
  for (const { part, piece } of taken) {
    const { name, from, to } = part
    if (frame && from >= frame.end) frame = null
    if (frame && (name === 'ANMF' || to > frame.end)) return false
    if (name === 'ANMF') {
      const head = piece as Buffer
      const length = head.readUInt32LE(4)
      frame = { head, begin: size + CHUNK_HEAD, end: from + CHUNK_HEAD + length + (length % 2) }
      if (to > frame.end) return false
    }
    size += piece ? lengthOf(piece) : 0
    frame?.head.writeUInt32LE(size - frame.begin, 4)
    last = to
  }
  // The padding of the last chunk may be left out.
  if (frame && frame.end > last + 1) return false
  const riff = taken[0]!.piece as Buffer
  riff.writeUInt32LE(size - CHUNK_HEAD, 4)
  return true
}
