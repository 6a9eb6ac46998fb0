import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/**
 * A small file: its first bytes, one more than `most` at the most, for it may be a device without an end; and its
 * permission bits. Throws Node's errors.
 */
export function readBounded(file: string, most: number): { bytes: Buffer; mode: number } {
  const descriptor = openSync(file, 'r')
  try {
    const { mode } = fstatSync(descriptor)
    const bytes = Buffer.alloc(most + 1)
    let filled = 0
    // A pipe gives less than is asked for.
    for (let count = -1; count !== 0 && filled < bytes.length; filled += count)
      count = readSync(descriptor, bytes, filled, bytes.length - filled, null)
    return { bytes: bytes.subarray(0, filled), mode }
  } finally {
    closeSync(descriptor)
  }
}
