/** The bytes of a picture in a file, in memory, or in an unfinished upload. */
export interface ByteSource {
  /** Bytes in all. */
  readonly size: number
  /** The `length` bytes from `offset` on, or fewer at the end of the source. Rejects when the source can't be read. */
  read(offset: number, length: number): Promise<Uint8Array>
}

export function sourceOfBytes(bytes: Uint8Array): ByteSource {
  return { size: bytes.byteLength, read: async (offset, length) => bytes.subarray(offset, offset + length) }
}

/** Width and height in pixels, as a picture's header states them. */
export interface Size {
  width: number
  height: number
}

export interface ReaderOptions {
  /** The source's first bytes, when the caller has read them already. */
  head?: Uint8Array
  /** The size of one read, in bytes. */
  block?: number
  /** The most reads of the source. From then on, `bytes` returns null for a block that is not in memory. */
  reads?: number
}

/** The size of a page. A hole in a file, and room that a writer reserved, read as pages of zeros. */
export const PAGE = 4096
const NONE: Buffer = Buffer.alloc(0)

/** Reads a source at any offset. The reader holds one block at a time, so memory does not grow with the picture. */
export class ByteReader {
  readonly source: ByteSource
  readonly size: number
  readonly #block: number
  #readsLeft: number
  #offset = 0
  #held: Buffer

  constructor(source: ByteSource, { head = NONE, block = 64 * 1024, reads = Infinity }: ReaderOptions = {}) {
    this.source = source
    this.size = source.size
    this.#block = block
    this.#readsLeft = reads
    this.#held = bufferOf(head)
  }

  /** The bytes from `offset` on, at least `length`. Null: there are fewer, or no read is left. Rejects when `read` does. */
  async bytes(offset: number, length: number): Promise<Buffer | null> {
    if (offset + length > this.size) return null
    if (!this.#holds(offset, length) && this.#readsLeft > 0) {
      this.#readsLeft--
      this.#held = bufferOf(await this.source.read(offset, this.#block))
      this.#offset = offset
    }
    return this.#holds(offset, length) ? this.#held.subarray(offset - this.#offset) : null
  }

  /** The bytes between these offsets, at most a block of them. There are fewer where the source ends before. */
  async slice(from: number, to: number): Promise<Buffer> {
    return (await this.bytes(from, Math.min(to, this.size) - from))?.subarray(0, to - from) ?? NONE
  }

  /** The text at this offset. */
  async text(from: number, length: number): Promise<string> {
    return (await this.slice(from, from + length)).toString('latin1')
  }

  /** The 32-bit number at this offset, in little endian. 0 where the source ends before. */
  async number(offset: number): Promise<number> {
    return (await this.bytes(offset, 4))?.readUInt32LE(0) ?? 0
  }

  /** The bytes between these offsets, block by block. A block is valid until the next is asked for. Ends where the source
   * ends. */
  async *pieces(from: number, to: number): AsyncGenerator<Buffer, void> {
    for (let at = from; at < Math.min(to, this.size); ) {
      const bytes = await this.bytes(at, 1)
      if (bytes === null) return
      const piece = bytes.subarray(0, to - at)
      yield piece
      at += piece.byteLength
    }
  }

  /** How many zero bytes the source ends with. Looks at no more than a page. */
  async zerosAtEnd(): Promise<number> {
    const bytes = await this.slice(Math.max(0, this.size - PAGE), this.size)
    return bytes.byteLength - 1 - bytes.findLastIndex(byte => byte !== 0)
  }

  #holds(offset: number, length: number): boolean {
    return offset >= this.#offset && offset + length <= this.#offset + this.#held.byteLength
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
