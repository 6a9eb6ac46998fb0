import { crc32 } from 'node:zlib'
import type { ByteReader } from '../../byte-reader.ts'
import { walkGif } from '../gif.ts'
import { SEGMENT_HEAD } from '../image-data.ts'
import { walkJpeg } from '../jpeg/jpeg.ts'
import type { Part } from '../part.ts'
import { CHUNK_HEAD, SIGNATURE, walkPng } from '../png.ts'
import { walkWebp } from '../webp.ts'
import { lengthOf, type Rules, type Taken } from './rules.ts'

const JFIF = 'JFIF\0'
const ADOBE = 'Adobe'
/** So many bytes of data does Adobe's segment have, and JFIF's before the dimensions of its thumbnail, which are two more. */
const [ADOBE_DATA, JFIF_DATA] = [12, 12]
export const [APP0, APP1, APP2, APP14] = [0xe0, 0xe1, 0xe2, 0xee]
/** Frames, tables, scans; the markers 204 and 220 are DAC and DNL. */
const NEEDED_SEGMENTS = /^(?:SOI|SOF\d+|DHT|DQT|DRI|SOS|marker (?:204|220))$/

/** Only the first image stays. All behind it goes, as its film or its depth. */
export const jpegRules: Rules = {
  walk: walkJpeg,
  end: Buffer.of(0xff, 0xd9),
  exif: exif => segment(APP1, exif),
  async take(part, reader) {
    const { name, role, from, to, profile } = part
    const start = from + SEGMENT_HEAD
    const isNamed = async (first: string, length: number) =>
      to - start >= length && (await reader.text(start, first.length)) === first
    if (role === 'image') return isScan(reader, part)
    if (name === 'APP0' && (await isNamed(JFIF, JFIF_DATA + 2)))
      return segment(APP0, await reader.slice(start, start + JFIF_DATA), Buffer.of(0, 0))
    if (name === 'APP14' && (await isNamed(ADOBE, ADOBE_DATA)))
      return segment(APP14, await reader.slice(start, start + ADOBE_DATA))
    return NEEDED_SEGMENTS.test(name) || profile !== undefined
  },
}

export function segment(code: number, ...data: Buffer[]): Buffer {
  const body = Buffer.concat(data)
  const length = body.byteLength + 2
  return Buffer.concat([Buffer.of(0xff, code, length >> 8, length), body])
}

/** 0xFF with another byte behind it than one that is stuffed, a restart's, or 0xFF again, which may stand before any marker. */
const MARKER = /\xff[^\0\xd0-\xd7\xff]/

/** Whether no marker stands among these pixels but those of restarts. A damaged picture may have a segment there. */
export async function isScan(reader: ByteReader, { from, to }: Part): Promise<boolean> {
  let last = ''
  for await (const piece of reader.pieces(from, to)) {
    const text = last + piece.toString('latin1')
    if (MARKER.test(text)) return false
    last = text.at(-1)!
  }
  return true
}

/** The length of the header, and where it begins: behind the signature, or behind CgBI, with which Apple's own kind begins. */
const HEADER = 25
const BEGINNINGS = [SIGNATURE, SIGNATURE + 16]
/** Pixels, frames, transparency, colours, and the size of a pixel. */
const NEEDED_OF_PNG = new Set([
  ...['PLTE', 'IDAT', 'tRNS', 'acTL', 'fcTL', 'fdAT', 'CgBI', 'bKGD', 'pHYs', 'sBIT'],
  ...['iCCP', 'sRGB', 'gAMA', 'cHRM', 'cICP', 'mDCV', 'mDCv', 'cLLI', 'cLLi'],
])

export const pngRules: Rules = {
  walk: walkPng,
  begin: SIGNATURE,
  end: pngChunk('IEND', Buffer.alloc(0)),
  exif: tiff => pngChunk('eXIf', tiff),
  take: async ({ name, from, to }) =>
    name === 'IHDR' ? to - from === HEADER && BEGINNINGS.includes(from) : NEEDED_OF_PNG.has(name),
}

function pngChunk(type: string, data: Buffer): Buffer {
  const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)])
  whole.writeUInt32BE(data.byteLength)
  whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.byteLength - 4)
  return whole
}

export const gifRules: Rules = {
  walk: walkGif,
  end: Buffer.of(0x3b),
  take: async ({ role, profile }) => role !== 'metadata' || profile !== undefined,
}

/** The length of the chunk with the features of the picture, and their bits that announce chunks. */
const FEATURES = CHUNK_HEAD + 10
const [HAS_EXIF, HAS_XMP] = [0x08, 0x04]
/** What a WebP's pixels need, with the length of a header, which some decoders read although it goes on behind its chunk. */
const NEEDED_OF_WEBP: Readonly<Record<string, number>> = {
  ...{ 'VP8 ': 10, VP8L: 5, ALPH: 0, ANIM: 0, ICCP: 0 },
}

export const webpRules: Rules = {
  walk: walkWebp,
  exif(tiff) {
    const head = Buffer.from('EXIF\0\0\0\0')
    head.writeUInt32LE(tiff.byteLength, 4)
    return Buffer.concat([head, tiff, Buffer.alloc(tiff.byteLength % 2)])
  },
  async take({ name, from, to }, reader) {
    const header = NEEDED_OF_WEBP[name]
    if (header !== undefined) return to - from >= CHUNK_HEAD + header
    const isWritten = name === 'RIFF' || name === 'ANMF' || (name === 'VP8X' && to - from === FEATURES)
    return isWritten && Buffer.from(await reader.slice(from, to))
  },
  measure,
}

/** Writes the length of the whole, and of each frame, which consists of the chunks behind its header; and which chunks there are.
 * False: a frame does not end where a chunk does. */
function measure(taken: readonly Taken[]): boolean {
  let size = 0
  let frame: { head: Buffer; begin: number; end: number } | null = null
  let last = 0
  const hasExif = taken.some(({ part, piece }) => part.name === 'EXIF' && piece !== null)
  for (const { part, piece } of taken) {
    const { name, from, to } = part
    if (frame && from >= frame.end) frame = null
    if (name === 'VP8X' && Buffer.isBuffer(piece)) piece[CHUNK_HEAD]! &= ~(HAS_XMP | (hasExif ? 0 : HAS_EXIF))
    if (name === 'ANMF') {
      if (frame) return false
      const head = piece as Buffer
      const length = head.readUInt32LE(4)
      frame = { head, begin: size + CHUNK_HEAD, end: from + CHUNK_HEAD + length + (length % 2) }
    }
    if (frame && to > frame.end) return false
    size += lengthOf(piece)
    frame?.head.writeUInt32LE(size - frame.begin, 4)
    last = to
  }
  // The padding of the last chunk may be left out.
  if (frame && frame.end > last + 1) return false
  const riff = taken[0]!.piece as Buffer
  riff.writeUInt32LE(size - CHUNK_HEAD, 4)
  return true
}
