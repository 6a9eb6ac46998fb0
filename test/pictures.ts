import { deflateSync } from 'node:zlib'
import { pngChunk } from './protocol/bytes.ts'

/** A picture as step 1 declares it and step 2 sends it. */
export interface TestPicture {
  name: string
  mime: string
  width: number
  height: number
  bytes: Buffer
}

/** A real grey PNG. Different shades are different bytes of the same length and dimensions. */
export function png(width = 3, height = 2, shade = 128): TestPicture {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits a sample, grey.
  header.writeUInt8(8, 8)
  const line = Buffer.alloc(1 + width, shade)
  line[0] = 0
  const pixels = Buffer.concat(Array.from({ length: height }, () => line))
  const bytes = Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    // Stored, not compressed, so that length does not follow the shade.
    pngChunk('IDAT', deflateSync(pixels, { level: 0 })),
    pngChunk('IEND'),
  ])
  return { name: 'picture.png', mime: 'image/png', width, height, bytes }
}

let made = 0

/** A picture: another one each time. */
export function some(): Buffer {
  const n = made++
  return png(3 + (n % 7), 2 + Math.floor(n / 7 / 251), n % 251).bytes
}

export function svg(text: string): TestPicture {
  const bytes = Buffer.from(text)
  return { name: 'drawing.svg', mime: 'image/svg+xml', width: 0, height: 0, bytes }
}
