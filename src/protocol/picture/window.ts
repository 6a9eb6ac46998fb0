/** Bytes of one read behind the head: a few segments or a directory, rarely more than one disk block. */
const BLOCK = 4096

/** A JPEG with 60 MB ahead of its frame needs a thousand; a file made to keep us busy ends here. */
const MAX_READS = 1024

/**
 * The part of a source that a reader is looking at. It holds one block at a time, the source's head at first,
 * so memory does not grow with the picture.
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
   * What is known of the source from `offset` on: at least `length` bytes (at most 4096), often more.
   * Null where the source ends before, or when too much has been read already. Rejects as the source does.
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

/** The bytes of a picture, wherever they are: a file, a buffer, a body that has been written aside. */
export interface ByteSource {
  /** Bytes in all. */
  readonly size: number
  /** The bytes from `offset` on, `length` of them or fewer where the source ends. Rejects where it can't be read. */
  read(offset: number, length: number): Promise<Uint8Array>
}
