import type { Format } from '../formats.ts'
import { ByteReader, type ByteSource, sourceOfBytes } from './byte-reader.ts'
import { bmpEnding, icoEnding, pngEnding, webpEnding } from './chunks.ts'
import { cut, type Ending, UNCLEAR } from './ending.ts'
import { gifEnding } from './gif.ts'
import { jpegEnding } from './jpeg.ts'
import { findSvgRoot, svgEnding } from './svg.ts'
import { tiffEnding } from './tiff.ts'

const ENDINGS: Readonly<Record<Format, (reader: ByteReader) => Promise<Ending>>> = {
  png: pngEnding,
  jpeg: jpegEnding,
  gif: gifEnding,
  webp: webpEnding,
  bmp: bmpEnding,
  tiff: tiffEnding,
  ico: icoEnding,
  svg: svgEnding,
}

/**
 * Whether a picture is complete, by its structure. A file that is still being written is `cut`, however long its writer
 * pauses. Pixels are not decoded. `format`: the format of the bytes; null: they are no picture. No content makes it throw.
 * It rejects when `source.read` rejects. Memory does not grow with the picture's size.
 */
export async function readEnding(format: Format | null, source: ByteSource): Promise<Ending> {
  return format ? ENDINGS[format](new ByteReader(source)) : noPictureYet(await source.read(0, 64 * 1024))
}

/** The first bytes of pictures, to recognize a file that holds only these bytes yet. */
const BEGINNINGS = ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF', 'BM', 'II', 'MM', '\0\0\x01\0']
const SIGNATURE_LENGTH = 32

/** The ending of bytes in which no format shows: reserved room that is not written yet, or the first bytes of a picture. */
async function noPictureYet(head: Uint8Array): Promise<Ending> {
  const written = head.findLastIndex(byte => byte !== 0) + 1
  if (written === 0) return cut('it begins with zeros only')
  const start = Buffer.from(head.subarray(0, Math.min(written, SIGNATURE_LENGTH))).toString('latin1')
  const begins = BEGINNINGS.some(text => start.startsWith(text) || text.startsWith(start))
  if (begins && written < SIGNATURE_LENGTH) return cut('all but its first bytes is missing')
  const text = head.subarray(0, written)
  return (await findSvgRoot(sourceOfBytes(text), text)) === 'cut'
    ? cut('its root element is missing')
    : UNCLEAR
}
