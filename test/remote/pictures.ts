import { createHash } from 'node:crypto'
import type { PictureBody } from '../../src/remote/host.ts'

/** Bytes that look like nothing, the same for the same size. */
export function bytesOf(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < size; i++) bytes[i] = (i * 31 + (i >> 8)) & 0xff
  return bytes
}

/** A picture that comes in chunks, as one too large for memory does. */
export function chunked(bytes: Buffer, chunk = 64 * 1024): PictureBody {
  return {
    fileName: 'picture.jpg',
    mime: 'image/jpeg',
    size: bytes.length,
    async *chunks() {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
    },
  }
}

export function inMemory(bytes: Buffer): PictureBody {
  return { ...chunked(bytes), bytes }
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
