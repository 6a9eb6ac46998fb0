import { createHash } from 'node:crypto'

/** A whole BMP file of one pixel. 32 bits of it are free, so no two numbers below 2³² give the same bytes. */
export function tinyPicture(number: number): Buffer {
  const bytes = bmp(1, 1)
  bytes.writeUInt32LE(number, HEADER)
  return bytes
}

export function tinyPictureHash(number: number): Buffer {
  return createHash('sha256').update(tinyPicture(number)).digest()
}

/** A whole BMP file of `width` × `height` black pixels of 24 bits. `width` is a multiple of 4, or 1. */
export function bmp(width: number, height: number): Buffer {
  const row = Math.ceil((width * 3) / 4) * 4
  const bytes = Buffer.alloc(HEADER + row * height)
  bytes.write('BM', 'latin1')
  bytes.writeUInt32LE(bytes.length, 2)
  bytes.writeUInt32LE(HEADER, 10)
  bytes.writeUInt32LE(40, 14)
  bytes.writeInt32LE(width, 18)
  bytes.writeInt32LE(height, 22)
  bytes.writeUInt16LE(1, 26)
  bytes.writeUInt16LE(24, 28)
  return bytes
}

/** Where a BMP's pixels begin. */
export const HEADER = 54
