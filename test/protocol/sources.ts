import type { ByteSource } from '../../src/protocol/byte-reader.ts'

/** Bytes at an offset. */
export interface Part {
  at: number
  bytes: Uint8Array
}

/** A source that is zeros but for its parts, whatever its size, and counts what is read of it. */
export class SparseSource implements ByteSource {
  readonly size: number
  readonly #parts: readonly Part[]
  reads = 0
  bytesRead = 0
  longestRead = 0

  constructor(size: number, parts: readonly Part[]) {
    this.size = size
    this.#parts = parts
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)))
    for (const part of this.#parts) copyOverlap(part, bytes, offset)
    this.reads += 1
    this.bytesRead += bytes.byteLength
    this.longestRead = Math.max(this.longestRead, bytes.byteLength)
    return bytes
  }
}

function copyOverlap(part: Part, into: Uint8Array, offset: number): void {
  const from = Math.max(part.at, offset)
  const to = Math.min(part.at + part.bytes.byteLength, offset + into.byteLength)
  if (from < to) into.set(part.bytes.subarray(from - part.at, to - part.at), from - offset)
}

export function sourceOf(bytes: Uint8Array): SparseSource {
  return new SparseSource(bytes.byteLength, [{ at: 0, bytes }])
}
