/** A Huffman code (ITU-T T.81, annex C). For each length of its codes: where these end among the numbers of 16 bits, and what
 * leads from a code to its symbol. */
export interface HuffmanCode {
  ends: number[]
  places: number[]
  table: Buffer
}

/** `table`: how many codes there are of each length (16 bytes), and their symbols. Null: no table, or too many codes. */
export function huffmanCode(table: Buffer | undefined): HuffmanCode | null {
  if (table === undefined) return null
  const [ends, places]: [number[], number[]] = [[0], [0]]
  for (let length = 1, code = 0, place = 16; length <= 16; length++, code *= 2) {
    const count = table[length - 1]!
    places.push(place - code)
    place += count
    code += count
    ends.push(code << (16 - length))
    if (code > 2 ** length) return null
  }
  return { ends, places, table }
}

/** Reads the bits of a JPEG's scan. Behind its end, all bits are zeros. */
export class EntropyBits {
  bytes: Uint8Array
  /** The place of the next byte that is not loaded. */
  at = 0
  /** The bits that were loaded. The lowest `#count` of them come next. */
  #bits = 0
  #count = 0
  /** How many of these bits lie behind the end. */
  #beyond = 0
  #isOver = false
  /** For each byte that was loaded, whether a zero is stuffed behind it. The last byte has the lowest bit. */
  #stuffed = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Whether bits behind the end were read, or bits that are no code. */
  get isOver(): boolean {
    return this.#isOver || this.#count < this.#beyond
  }

  /** How many bytes before `at` hold no bit that was read. */
  get ahead(): number {
    let length = 0
    for (let byte = (this.#count - this.#beyond) >> 3; byte > 0; byte--)
      length += 1 + ((this.#stuffed >> (byte - 1)) & 1)
    return length
  }

  /** The next `count` bits, at most 16, as a number. */
  take(count: number): number {
    if (count === 0) return 0
    if (this.#count < count) this.#fill()
    this.#count -= count
    return (this.#bits >>> this.#count) & ((1 << count) - 1)
  }

  /** The symbol whose code comes next. 0 where no code does. */
  symbol({ ends, places, table }: HuffmanCode): number {
    if (this.#count < 16) this.#fill()
    const next = (this.#bits >>> (this.#count - 16)) & 0xffff
    let length = 1
    while (next >= ends[length]!) length++
    if (length > 16) {
      this.#isOver = true
      return 0
    }
    this.#count -= length
    return table[places[length]! + (next >> (16 - length))] ?? 0
  }

  /** A number of so many bits, negative where the first bit is 0 (T.81, F.2.2.1). */
  value(length: number): number {
    const bits = this.take(length)
    return length > 0 && bits < 1 << (length - 1) ? bits - (1 << length) + 1 : bits
  }

  /** Goes on behind the next restart marker. Returns how many bytes it skips. Without a marker, infinitely many. */
  restart(): number {
    const from = this.at - this.ahead
    this.#count = 0
    this.#beyond = 0
    for (let at = this.bytes.indexOf(0xff, this.at); at >= 0; at = this.bytes.indexOf(0xff, at + 1)) {
      const code = this.bytes[at + 1]
      if (code === undefined || code < 0xd0 || code > 0xd7) continue
      this.at = at + 2
      return at - from
    }
    this.at = this.bytes.length
    return Infinity
  }

  /** Loads bytes. A byte 0 behind 0xFF is stuffed. Any other byte there is a marker, at which the bits end. */
  #fill(): void {
    for (; this.#count <= 16; this.#count += 8) {
      let byte = this.bytes[this.at]
      if (byte === 0xff && this.bytes[this.at + 1] !== 0) byte = undefined
      if (byte === undefined) this.#beyond += 8
      else {
        this.at += byte === 0xff ? 2 : 1
        this.#stuffed = (this.#stuffed << 1) | (byte === 0xff ? 1 : 0)
      }
      this.#bits = ((this.#bits << 8) | (byte ?? 0)) & 0xffffff
    }
  }
}
