/** The largest picture that is held in memory, in bytes. */
export const IN_MEMORY = 2 * 2 ** 20
/** How many bytes the memory has before and after a picture, for what `framed` puts around it. */
const ROOM = 1024

/** All bytes of a picture, until it is closed; after that this memory is used for the next picture. */
export interface PictureMemory {
  bytes: Buffer
  /** The picture with `head` before and `tail` after it, in one piece for a single write. Null: they do not fit. */
  framed(head: Uint8Array, tail: Uint8Array): Uint8Array | null
  /** Keeps the memory for a reader, also after the picture is closed, until the reader calls the returned function. */
  lend(): () => void
}

/** Memory for pictures, which is used again for the next picture until `letGo` is called. V8 collects garbage more often the
 * more buffers it has allocated; for a small picture this took as long as all other work. Uploads that begin together also
 * end together, so there are moments in which no picture is open. The memory is kept in such a moment, because the next
 * pictures follow at once. */
export class PictureBuffers {
  readonly #free: Buffer[] = []

  /** Lends memory for a picture of so many bytes, with any content until `end` is called. After `end` the next picture gets the
   * same bytes, unless a reader has called `lend` and still reads them. */
  borrow(size: number): PictureMemory & { end(): void } {
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(ROOM + IN_MEMORY + ROOM)
    let readers = 0
    return {
      bytes: buffer.subarray(ROOM, ROOM + size),
      framed(head, tail) {
        if (head.length > ROOM || tail.length > ROOM) return null
        buffer.set(head, ROOM - head.length)
        buffer.set(tail, ROOM + size)
        return buffer.subarray(ROOM - head.length, ROOM + size + tail.length)
      },
      lend: () => {
        readers++
        return () => void readers--
      },
      end: () => {
        if (readers === 0) this.#free.push(buffer)
      },
    }
  }

  /** Frees the memory that is kept for further pictures. Call it when no picture will be opened for a while. */
  letGo(): void {
    this.#free.length = 0
  }
}
