/** Bytes. Pictures up to this size are held in memory. */
export const IN_MEMORY = 2 * 2 ** 20

/**
 * Memory for pictures, used again until it is let go. V8 counts each new buffer, and collects garbage the more often:
 * that took as long as all other work for a small picture. Uploads that go together also end together, so that for a
 * moment often none is open: that is no reason to let it go.
 */
export class PictureBuffers {
  readonly #free: Buffer[] = []

  /** IN_MEMORY bytes with anything in them. They are given back, unless somebody may still read them. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(IN_MEMORY)
  }

  /** Nobody reads it any more. */
  giveBack(buffer: Buffer): void {
    this.#free.push(buffer)
  }

  /** No picture is to be opened for now. */
  letGo(): void {
    this.#free.length = 0
  }
}
