import { crc32 } from 'node:zlib'

export type Bytes = (string | number | Uint8Array)[]

/** Bytes from what is easiest to write: text is Latin-1, a number is one byte. */
export function bytes(...parts: Bytes): Buffer {
  return Buffer.concat(parts.map(onePart))
}

function onePart(part: Bytes[number]): Uint8Array {
  if (typeof part === 'string') return Buffer.from(part, 'latin1')
  return typeof part === 'number' ? Uint8Array.of(part) : part
}

/** Unsigned integers of 16 and 32 bits in both byte orders. */
export function le16(value: number): Buffer {
  return bytes(value & 0xff, value >> 8)
}

export function be16(value: number): Buffer {
  return le16(value).reverse()
}

export function le32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32LE(value)
  return buffer
}

export function be32(value: number): Buffer {
  return le32(value).reverse()
}

/** A chunk of a PNG. */
export function pngChunk(type: string, ...data: Bytes): Buffer {
  const body = bytes(type, ...data)
  return bytes(be32(body.length - 4), body, be32(crc32(body)))
}

export function webpChunk(name: string, ...data: Bytes): Buffer {
  const body = bytes(...data)
  return bytes(name, le32(body.length), body, Buffer.alloc(body.length % 2))
}

export function webpOf(...chunks: Bytes): Buffer {
  const body = bytes('WEBP', ...chunks)
  return bytes('RIFF', le32(body.length), body)
}

/** An APPn segment of a JPEG with a payload of zeros. */
export function appSegment(n: number, payload: number): Buffer {
  return bytes(0xff, 0xe0 + n, be16(payload + 2), Buffer.alloc(payload))
}

/** The segment of a JPEG that holds an EXIF block. */
export function app1(tiff: Buffer): Buffer {
  const exif = bytes('Exif\0\0', tiff, 0, 0, 0, 0)
  return bytes(0xff, 0xe1, be16(exif.length + 2), exif)
}

/** An EXIF block that holds the orientation alone. */
export function exif(orientation: number): Buffer {
  const entry = bytes(be16(0x0112), be16(3), be32(1), be16(orientation), be16(0))
  return app1(bytes('MM', be16(42), be32(8), be16(1), entry))
}

/** A frame header of a JPEG: one component, 8 bits. */
export function frame(marker: number, width: number, height: number): Buffer {
  return bytes(0xff, marker, be16(11), 8, be16(height), be16(width), 1, 1, 0x11, 0)
}

/** A scan of a JPEG's one component, with any pixels. */
export function scan(pixels: string | Uint8Array): Buffer {
  return bytes(0xff, 0xda, be16(8), 1, 1, 0, 0, 63, 0, pixels)
}

export function jpeg(...segments: Uint8Array[]): Buffer {
  return bytes(0xff, 0xd8, ...segments, 0xff, 0xd9)
}

/** A PNG up to its first IDAT, whose data is missing. */
export function png(width: number, height: number): Buffer {
  const header = bytes(be32(13), 'IHDR', be32(width), be32(height), 8, 6, 0, 0, 0, be32(0))
  return bytes('\x89PNG\r\n\x1a\n', header, be32(0), 'IDAT', be32(0))
}
