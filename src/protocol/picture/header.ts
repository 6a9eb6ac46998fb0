import { imageSize } from 'image-size'
import { withinDeadline } from './deadline.ts'
import { plausible, type Size } from './size.ts'

/** Far beyond what a header costs (microseconds), so that a busy machine does not turn a good one away. */
const DEADLINE_MS = 2000

/** A size stands in the first 40 bytes, in an ICO in 16 for each entry: this is 500 of them. */
const ENOUGH = 8192

const NO_FILES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE'])

/** The formats of which image-size reads the header right, by the names that it gives them. */
type HeaderFormat = 'png' | 'gif' | 'webp' | 'ico' | 'svg'

/**
 * The size that a picture's first bytes state. Of an ICO's entries the largest counts, for it is what people
 * see; a length of 0 there means 256. A WebP's is its canvas, a GIF's its screen. Throws EMFILE and ENFILE where too many
 * files are open.
 */
export function readHeaderSize(format: HeaderFormat, head: Uint8Array): Size | null {
  // image-size reads past the end of a view into the buffer behind it, which Node's small buffers share.
  const own = new Uint8Array(head.subarray(0, ENOUGH))
  try {
    const { type, width, height } = withinDeadline(DEADLINE_MS, () => imageSize(own))
    return type === format ? plausible(width, height) : null
  } catch (error) {
    // That says nothing of the picture.
    if (NO_FILES.has((error as NodeJS.ErrnoException).code)) throw error
    // It throws RangeError, TypeError or the deadline's error: each says that these bytes can't be read.
    return null
  }
}
