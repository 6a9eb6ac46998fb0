/** Width and height of a picture in pixels, as stored. */
export interface Size {
  width: number
  height: number
}

/** PNG and BMP hold 31 bits; a header that says more is damaged, whatever its format. */
const LARGEST = 2 ** 31 - 1

/** The size, or null where a header states what no picture can have: zero, a fraction, too much. */
export function plausible(width: number | undefined, height: number | undefined): Size | null {
  return isLength(width) && isLength(height) ? { width, height } : null
}

function isLength(pixels: number | undefined): pixels is number {
  return Number.isInteger(pixels) && pixels! >= 1 && pixels! <= LARGEST
}
