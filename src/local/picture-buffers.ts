/** Bytes. Pictures up to this size are held in memory. */
export const IN_MEMORY = 2 * 2 ** 20

/**
 * Memory for pictures, used again as long as others are open. V8 counts each new buffer, and collects garbage the more
 * often: that took as long as all other work for a small picture. What nobody uses is let go.
 */
export class PictureBuffers {
  readonly #free: Buffer[] = []
  #taken = 0

  /** IN_MEMORY bytes with anything in them. Each is given back or given up, once. */
  take(): Buffer {
    this.#taken++
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(IN_MEMORY)
  }

  /** Nobody reads it any more. */
  giveBack(buffer: Buffer): void {
    this.#free.push(buffer)
    this.giveUp()
  }

  /** Somebody may still read it. */
  giveUp(): void {
    this.#taken--
    if (this.#taken === 0) this.#free.length = 0
  }
}
