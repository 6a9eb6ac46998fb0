import { disableTypes, imageSize, types } from 'image-size'

/** image-size looks for these formats alone. It reads other formats wrong, or they are not in §4.3. */
type HeaderFormat = 'png' | 'gif' | 'webp' | 'ico' | 'svg'
const ALLOWED: ReadonlySet<string> = new Set<HeaderFormat>(['png', 'gif', 'webp', 'ico', 'svg'])
disableTypes(types.filter(type => !ALLOWED.has(type)))

/** Bytes that image-size gets. A size is in the first 40 bytes. An ICO has 16 bytes for each entry, so this holds 500. */
const ENOUGH = 8192

/**
 * The size that a picture's first bytes state. The largest entry of an ICO counts, because people see this one. A WebP's size
 * is its canvas, a GIF's its screen. image-size reads at most `ENOUGH` bytes, so it always ends: crafted input costs it some
 * 40 milliseconds at most.
 */
export function readHeaderSize(format: HeaderFormat, head: Uint8Array): Size | null {
  // A copy, because image-size reads beyond the end of a view, into memory that Node's small buffers share.
  const own = new Uint8Array(head.subarray(0, ENOUGH))
  try {
    const { type, width, height } = imageSize(own)
    return type === format ? plausible(width, height) : null
  } catch {
    // image-size throws RangeError or TypeError for bytes that it can't read.
    return null
  }
}

/** Width and height of a picture in pixels, as stored. */
export interface Size {
  width: number
  height: number
}

/** The largest dimension of PNG and BMP. A header of any format that states more is damaged. */
const LARGEST = 2 ** 31 - 1

/** The size, or null when a header states dimensions that no picture has: zero, a fraction, or too large. */
export function plausible(width: number | undefined, height: number | undefined): Size | null {
  return isLength(width) && isLength(height) ? { width, height } : null
}

function isLength(pixels: number | undefined): pixels is number {
  return Number.isInteger(pixels) && pixels! >= 1 && pixels! <= LARGEST
}
