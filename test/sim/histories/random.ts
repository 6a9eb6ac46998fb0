/** Randomness that a seed decides: sfc32, which is quick and good enough for choices. */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, stream = 0) {
    this.#a = seed | 0
    this.#b = Math.floor(seed / 2 ** 32) | 0
    this.#c = stream | 0
    for (let i = 0; i < 12; i++) this.next()
  }

  /** An integer of 32 bits. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }

  /** From 0 up to and without `end`. */
  below(end: number): number {
    return this.next() % end
  }

  chance(probability: number): boolean {
    return this.next() < probability * 2 ** 32
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length; at += 4) bytes.writeUInt32LE(this.next(), at > length - 4 ? length - 4 : at)
    return bytes
  }

  /** In another order. */
  shuffled<T>(items: readonly T[]): T[] {
    const shuffled = [...items]
    for (let i = shuffled.length - 1; i > 0; i--) {
      const other = this.below(i + 1)
      ;[shuffled[i], shuffled[other]] = [shuffled[other]!, shuffled[i]!]
    }
    return shuffled
  }
}
