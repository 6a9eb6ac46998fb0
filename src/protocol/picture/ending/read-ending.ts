import type { Format } from '../../formats.ts'
import { findSvgRoot } from '../svg.ts'
import type { ByteSource } from '../window.ts'
import { ByteReader, cut, type Ending, oneByteText, UNCLEAR } from './bytes.ts'
import { bmpEnding, icoEnding, pngEnding, webpEnding } from './chunks.ts'
import { gifEnding } from './gif.ts'
import { jpegEnding } from './jpeg.ts'
import { svgEnding } from './svg.ts'
import { tiffEnding } from './tiff.ts'

/** The first bytes of pictures, to recognize a file that holds only these bytes yet. */
const BEGINNINGS = ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF', 'BM', 'II', 'MM', '\0\0\x01\0']
const SIGNATURE_LENGTH = 32

/**
 * Whether a picture is complete, by its structure. A file that is still being written is `cut`, however long its writer
 * pauses. Pixels are not decoded. `format`: the format of the bytes; null: they are no picture. No content makes it throw.
 * It rejects when `source.read` rejects. Memory does not grow with the picture's size.
 */
export async function readEnding(format: Format | null, source: ByteSource): Promise<Ending> {
  switch (format) {
    case 'png':
      return pngEnding(new ByteReader(source))
    case 'jpeg':
      return jpegEnding(new ByteReader(source))
    case 'gif':
      return gifEnding(new ByteReader(source))
    case 'webp':
      return webpEnding(new ByteReader(source))
    case 'bmp':
      return bmpEnding(new ByteReader(source))
    case 'tiff':
      return tiffEnding(source)
    case 'ico':
      return icoEnding(new ByteReader(source))
    case 'svg':
      return svgEnding(new ByteReader(oneByteText(source, await source.read(0, 2))))
    case null:
      return noPictureYet(await source.read(0, 64 * 1024))
  }
}

/** The ending of bytes in which no format shows: reserved room that is not written yet, or the first bytes of a picture. */
function noPictureYet(head: Uint8Array): Ending {
  const written = head.findLastIndex(byte => byte !== 0) + 1
  if (written === 0) return cut('it begins with zeros only')
  const start = Buffer.from(head.subarray(0, Math.min(written, SIGNATURE_LENGTH))).toString('latin1')
  const begins = BEGINNINGS.some(text => start.startsWith(text) || text.startsWith(start))
  if (begins && written < SIGNATURE_LENGTH) return cut('all but its first bytes is missing')
  return findSvgRoot(head.subarray(0, written)) === 'cut' ? cut('its root element is missing') : UNCLEAR
}
