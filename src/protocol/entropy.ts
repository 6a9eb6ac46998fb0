/** For the next 16 bits: how long their code is (upper byte), and the symbol that it stands for. 0: no code begins so. */
export type HuffmanTable = Uint16Array

/** `table`: how many codes there are of each length (16 bytes), and their symbols. Null: there is none, or too many codes. */
export function huffmanTable(table: Buffer | undefined): HuffmanTable | null {
  if (table === undefined) return null
  const found = new Uint16Array(2 ** 16)
  let code = 0
  let nth = 16
  for (let length = 1; length <= 16; length++) {
    const span = 2 ** (16 - length)
    for (let left = table[length - 1]!; left > 0; left--, code++) {
      if ((code + 1) * span > found.length) return null
      found.fill((length << 8) | (table[nth++] ?? 0), code * span, (code + 1) * span)
    }
    code *= 2
  }
  return found
}

/** Reads the bits of a scan, of which all behind its end are zeros. */
export class EntropyBits {
  readonly #bytes: Uint8Array
  #at = 0
  /** Its lowest `#count` bits come next. */
  #bits = 0
  #count = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The next `count` bits as a number, at most 16. */
  take(count: number): number {
    if (count === 0) return 0
    if (this.#count < count) this.#fill()
    this.#count -= count
    return (this.#bits >>> this.#count) & ((1 << count) - 1)
  }

  /** The symbol whose code comes next. */
  symbol(table: HuffmanTable): number {
    if (this.#count < 16) this.#fill()
    const found = table[(this.#bits >>> (this.#count - 16)) & 0xffff]!
    this.#count -= found >> 8
    return found & 0xff
  }

  /** A number of so many bits, negative where the first bit is 0 (T.81, F.2.2.1). */
  value(length: number): number {
    const bits = this.take(length)
    return length > 0 && bits < 1 << (length - 1) ? bits - (1 << length) + 1 : bits
  }

  /** Goes on behind the next restart marker. */
  restart(): void {
    this.#bits = 0
    this.#count = 0
    for (let at = this.#bytes.indexOf(0xff, this.#at); at >= 0; at = this.#bytes.indexOf(0xff, at + 1)) {
      const code = this.#bytes[at + 1]
      if (code === undefined || code < 0xd0 || code > 0xd7) continue
      this.#at = at + 2
      return
    }
    this.#at = this.#bytes.length
  }

  /** A byte 0 behind 0xFF is stuffed, and any other is a marker, at which the bits end. */
  #fill(): void {
    while (this.#count <= 16) {
      let byte = this.#bytes[this.#at] ?? 0
      if (byte !== 0xff) this.#at++
      else if (this.#bytes[this.#at + 1] === 0) this.#at += 2
      else byte = 0
      this.#bits = ((this.#bits << 8) | byte) & 0xffffff
      this.#count += 8
    }
  }
}
