import type { ByteReader } from '../../byte-reader.ts'
import { walkJpeg } from '../jpeg/jpeg.ts'
import type { Part } from '../part.ts'
import { EXIF } from '../tiff-directories.ts'
import type { Rules } from './rules.ts'

/** Bytes before a segment's data: its marker and its length. */
const SEGMENT_HEAD = 4
export const ICC = 'ICC_PROFILE\0'
const JFIF = 'JFIF\0'
const ADOBE = 'Adobe'
/** So many bytes of data does Adobe's segment have, and JFIF's before the dimensions of its thumbnail, which are two more. */
const [ADOBE_DATA, JFIF_DATA] = [12, 12]
export const [APP0, APP1, APP2, APP14] = [0xe0, 0xe1, 0xe2, 0xee]

/** Frames, tables, scans; the markers 204 and 220 are DAC and DNL. */
const NEEDED = /^(?:SOI|SOF\d+|DHT|DQT|DRI|SOS|marker (?:204|220))$/

/** Only the first image stays. All behind it goes, as its film or its depth. */
export const jpegRules: Rules = {
  walk: walkJpeg,
  end: Buffer.of(0xff, 0xd9),
  async exifAt({ name, from }, reader) {
    const start = from + SEGMENT_HEAD
    return name === 'APP1' && (await reader.text(start, EXIF.length)) === EXIF ? start : null
  },
  exif: exif => segment(APP1, exif),
  async take(part, reader) {
    const { name, role, from, to } = part
    const start = from + SEGMENT_HEAD
    const isNamed = async (first: string, length = first.length) =>
      to - start >= length && (await reader.text(start, first.length)) === first
    if (role === 'image') return isScan(reader, part)
    if (name === 'APP0' && (await isNamed(JFIF, JFIF_DATA + 2)))
      return segment(APP0, await reader.slice(start, start + JFIF_DATA), Buffer.of(0, 0))
    if (name === 'APP14' && (await isNamed(ADOBE, ADOBE_DATA)))
      return segment(APP14, await reader.slice(start, start + ADOBE_DATA))
    return NEEDED.test(name) || (name === 'APP2' && (await isNamed(ICC)))
  },
}

export function segment(code: number, ...data: Buffer[]): Buffer {
  const body = Buffer.concat(data)
  const length = body.byteLength + 2
  return Buffer.concat([Buffer.of(0xff, code, length >> 8, length), body])
}

/** Whether no marker stands among these pixels but those of restarts. A damaged picture may have a segment there. */
export async function isScan(reader: ByteReader, { from, to }: Part): Promise<boolean> {
  let isMarker = false
  for await (const piece of reader.pieces(from, to)) {
    if (isMarker && !isPixel(piece[0]!)) return false
    const last = piece.byteLength - 1
    for (let at = piece.indexOf(0xff); at >= 0 && at < last; at = piece.indexOf(0xff, at + 1))
      if (!isPixel(piece[at + 1]!)) return false
    isMarker = piece[last] === 0xff
  }
  return true
}

/** Whether this byte behind 0xFF is stuffed, a restart's, or 0xFF again, which may stand before any marker. */
function isPixel(code: number): boolean {
  return code === 0 || code === 0xff || (code >= 0xd0 && code <= 0xd7)
}
