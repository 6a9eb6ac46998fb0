/** Bytes of one read after the first: enough for a few JPEG segments or a TIFF directory. */
const BLOCK = 4096

/** A JPEG with 60 MB of metadata needs a thousand reads. More reads happen only in files that are crafted to take long. */
const MAX_READS = 1024

/**
 * A reader's view of a source. It holds one block at a time, at first the source's head, so that memory does not grow
 * with the picture.
 */
export class Window {
  readonly #source: ByteSource
  #offset = 0
  #block: Uint8Array
  #readsLeft = MAX_READS

  constructor(source: ByteSource, head: Uint8Array) {
    this.#source = source
    this.#block = head
  }

  /**
   * The bytes from `offset` on: at least `length` (at most 4096), often more. Null: the source ends before, or the limit
   * of reads is reached. Rejects when the source's `read` rejects.
   */
  async at(offset: number, length: number): Promise<DataView | null> {
    if (!this.#holds(offset, length)) await this.#moveTo(offset, length)
    if (!this.#holds(offset, length)) return null
    const from = offset - this.#offset
    const { buffer, byteOffset, byteLength } = this.#block
    return new DataView(buffer, byteOffset + from, byteLength - from)
  }

  #holds(offset: number, length: number): boolean {
    return offset >= this.#offset && offset + length <= this.#offset + this.#block.byteLength
  }

  async #moveTo(offset: number, length: number): Promise<void> {
    if (offset + length > this.#source.size || this.#readsLeft === 0) return
    this.#readsLeft -= 1
    this.#block = await this.#source.read(offset, BLOCK)
    this.#offset = offset
  }
}

/** The bytes of a picture in a file, in memory, or in an unfinished upload. */
export interface ByteSource {
  /** Bytes in all. */
  readonly size: number
  /** The bytes from `offset` on, `length` of them, or fewer at the end of the source. Rejects when the source can't be read. */
  read(offset: number, length: number): Promise<Uint8Array>
}
