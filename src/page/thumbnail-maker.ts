import { readInside } from '../local/open-file.ts'
import { sourceOfBytes } from '../protocol/byte-reader.ts'
import { readPicture } from '../protocol/picture/picture.ts'
import type { Original } from './thumbnails.ts'

/** The largest picture that is decoded, in pixels. Decoding it takes up to 400 MB. */
const MOST_PIXELS = 1e8
/** The side of a thumbnail in pixels: twice what the page shows, for fine screens. */
const SIDE = 240
/** The largest picture, in bytes, that is shown as it is when the library does not know its format. */
const LARGEST_AS_IS = 512 * 1024
/** Formats that browsers show. SVG is left out, because an SVG may hold scripts. */
const SHOWN: ReadonlySet<string> = new Set(['png', 'jpeg', 'gif', 'webp', 'bmp', 'ico'])

/** A small picture, upright and square. Null: the picture can't be shown. */
export async function makeThumbnail(original: Original): Promise<Uint8Array | null> {
  const bytes = 'bytes' in original ? original.bytes : await readInside(original.mirror, original.path)
  try {
    // Where the library is missing, there are only the pictures that are shown as they are.
    const { default: sharp } = await import('sharp')
    sharp.cache(false)
    sharp.concurrency(1)
    // A picture that is cut off is shown as far as it goes.
    const picture = sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'none' })
    const small = picture.autoOrient().resize(SIDE, SIDE, { fit: 'cover', withoutEnlargement: true })
    return await small.webp({ quality: 75 }).toBuffer()
  } catch {
    const { format } = (await readPicture(sourceOfBytes(bytes))) ?? {}
    return bytes.length <= LARGEST_AS_IS && SHOWN.has(format ?? '') ? bytes : null
  }
}
