import type { Picture } from '../../src/protocol/picture/picture.ts'

/** Pictures of a few bytes, read by a function of their own: what is simulated is who has which, not formats. */
export interface TinyPicture {
  format: 'gif' | 'svg'
  width: number
  height: number
  /** Tells it from others. */
  version: number
  /** Bytes; sizes from 1000 on are listed rounded (§2). */
  size: number
}

const HEAD = 12

export function bytesOf({ format, width, height, version, size }: TinyPicture): Buffer {
  const bytes = Buffer.alloc(Math.max(HEAD, size))
  bytes.write(format, 'latin1')
  bytes.writeUInt16LE(width, 4)
  bytes.writeUInt16LE(height, 6)
  bytes.writeUInt32LE(version, 8)
  return bytes
}

/** What is written first of a picture that takes its time: no other picture has these bytes. */
export function halfOf(bytes: Buffer): Buffer {
  const half = Buffer.from(bytes.subarray(0, Math.max(HEAD, bytes.length >> 1)))
  half[3] = 0x2f
  return half
}

export function isHalf(bytes: Buffer): boolean {
  return bytes.length >= HEAD && bytes[3] === 0x2f
}

/** Null: no picture. An SVG without a size has no dimensions. */
export function readTiny(bytes: Uint8Array): Picture | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length < HEAD) return null
  const format = buffer.toString('latin1', 0, 3)
  if (format === 'svg') return { format, mime: 'image/svg+xml', width: null, height: null }
  if (format !== 'gif') return null
  return { format, mime: 'image/gif', width: buffer.readUInt16LE(4), height: buffer.readUInt16LE(6) }
}

/** For people who read a history. */
export function nameOfBytes(bytes: Buffer): string {
  if (bytes.length < HEAD) return `${bytes.length} bytes`
  const half = isHalf(bytes) ? 'half of ' : ''
  const size = `${buffer16(bytes, 4)}×${buffer16(bytes, 6)}, ${bytes.length} bytes`
  return `${half}version ${bytes.readUInt32LE(8)} (${bytes.toString('latin1', 0, 3)}, ${size})`
}

function buffer16(bytes: Buffer, at: number): number {
  return bytes.readUInt16LE(at)
}
