import { readTiny } from '../disk/tiny-picture.ts'

/** What a host delivers in the place of a picture.
 * strip: what makes it, without metadata. trim: the same, but turned as before. pack: the same pixels, packed anew. encode: other pixels.
 * turn: a JPEG that EXIF turns is turned itself, and all others are as they were sent.
 * shrink: what is wider or higher than the host's limit is half as large, and all others are as they were sent. What is shrunk
 * has another number of bytes. */
export type Alteration = 'strip' | 'trim' | 'pack' | 'encode' | 'turn' | 'shrink'

const HEAD = 12
/** In the number that tells a picture from others: its pixels are packed otherwise, or they are others. */
export const PACKED = 0x2000_0000
const TURNED = 0x4000_0000
/** Pixels that are delivered as they were sent. */
const LIMIT = 320

/** What the host delivers. All of it is a head: none of it has metadata. */
export function altered(bytes: Buffer, how: Alteration | null): Buffer {
  const picture = how === null ? null : readTiny(bytes)
  if (how === null || picture === null) return bytes
  if (picture.format === 'svg')
    return how === 'strip' || how === 'trim' || how === 'encode' ? head(bytes) : bytes
  const { width, height, turned } = picture as { width: number; height: number; turned?: true }
  const isTurned = turned === true
  const isLarge = Math.max(width, height) > LIMIT
  const made = head(bytes)
  switch (how) {
    case 'trim':
      return Buffer.from(bytes.subarray(0, HEAD))
    case 'pack':
      return numbered(made, number => number ^ PACKED)
    case 'encode':
      return numbered(made, number => ~number)
    case 'turn':
      return isTurned
        ? sized(
            numbered(made, number => number ^ TURNED),
            height,
            width,
          )
        : bytes
    case 'shrink':
      return isLarge
        ? sized(
            numbered(resized(made, bytes), number => ~number),
            width >> 1,
            height >> 1,
          )
        : bytes
    default:
      return made
  }
}

/** What makes a picture. Without metadata nothing turns a JPEG. */
function head(bytes: Buffer): Buffer {
  const made = Buffer.from(bytes.subarray(0, HEAD))
  if (made.toString('latin1', 0, 3) === 'jpg') made.write('jpe', 'latin1')
  return made
}

/** With bytes at its end where it would be as large as what was sent. */
function resized(made: Buffer, { length }: Buffer): Buffer {
  return made.length === length ? Buffer.concat([made, Buffer.alloc(4)]) : made
}

function numbered(made: Buffer, change: (number: number) => number): Buffer {
  made.writeUInt32LE(change(made.readUInt32LE(8)) >>> 0, 8)
  return made
}

function sized(made: Buffer, width: number, height: number): Buffer {
  made.writeUInt16LE(width, 4)
  made.writeUInt16LE(height, 6)
  return made
}

/** Whether a listing of what is delivered looks as if the picture had been edited, and its pixels do not tell otherwise. */
export function looksEdited(bytes: Buffer, how: Alteration | null): boolean {
  const made = altered(bytes, how)
  const isKept = how === 'strip' || how === 'trim' || (how === 'pack' && readTiny(bytes)?.format === 'jpeg')
  return made.length !== bytes.length && !isKept
}
