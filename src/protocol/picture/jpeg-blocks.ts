import { ByteReader, type ByteSource } from './byte-reader.ts'
import type { Units } from './jpeg-tables.ts'

/** `complete`: all blocks are there. `end`: the offset behind the last byte that was needed. `rest`: so many bytes are left
 * before the next marker. */
export interface Counted {
  complete: boolean
  end: number
  rest: number
}

/** A unit's ten blocks of 64 coefficients with 31 bits, each byte stuffed, fit into so many bytes, and a marker does too. */
const UNIT = 8192
/** At most so many bytes are read ahead. */
const AHEAD = 8
/** So many bytes may be left over before a marker: the last bits, and what encoders add. */
const SPARE = 3

/** Counts the blocks between these offsets by the lengths of their Huffman codes (ITU-T T.81, F.2.2), without computing a
 * pixel. Whoever loses step, as in a hole, ends too early or too late. */
export async function countBlocks(
  source: ByteSource,
  from: number,
  to: number,
  { count, interval, blocks }: Units,
): Promise<Counted> {
  const reader = new ByteReader(source)
  const codes = new Map<Buffer, HuffmanCode>()
  const codeOf = (table: Buffer) => codes.get(table) ?? codes.set(table, new HuffmanCode(table)).get(table)!
  const unit = blocks.map(({ dc, ac }) => ({ dc: codeOf(dc), ac: codeOf(ac) }))
  const bits = new Bits()
  let offset = from
  for (let done = 0; ; done++) {
    if (bits.left < UNIT && offset + bits.at + bits.left < to) {
      const keep = Math.min(AHEAD, bits.at)
      offset += bits.at - keep
      const bytes = await reader.bytes(offset, Math.min(AHEAD + UNIT, to - offset))
      if (bytes === null) return { complete: false, end: offset + keep, rest: 0 }
      bits.look(bytes.subarray(0, to - offset), keep)
    }
    const restarts = interval > 0 && done > 0 && done < count && done % interval === 0
    const inStep = !restarts || (bits.rest <= SPARE && bits.restart())
    if (done === count || !inStep || !bits.unit(unit))
      return { complete: done === count, end: offset + bits.used, rest: bits.rest }
  }
}

/** Codes of up to so many bits are found with one look. */
const SHORT = 9

/** A Huffman code as JPEG writes it: how many codes there are of each length from 1 to 16, and their symbols. */
class HuffmanCode {
  /** By the next bits: the length of the code and its symbol. 0: it is longer. */
  readonly short = new Uint16Array(1 << SHORT)
  /** By the length: the code behind the last one, and what leads from a code to the place of its symbol. */
  readonly #ends: number[] = []
  readonly #places: number[] = []
  readonly #symbols: Buffer

  constructor(table: Buffer) {
    this.#symbols = table.subarray(16)
    for (let length = 1, code = 0, place = 0; length <= 16; length++, code <<= 1) {
      this.#places[length] = place - code
      for (let each = 0; each < table[length - 1]!; each++, code++, place++) {
        const [shift, entry] = [SHORT - length, (length << 8) | (this.#symbols[place] ?? 0)]
        if (shift >= 0) this.short.fill(entry, code << shift, (code + 1) << shift)
      }
      this.#ends[length] = code
    }
  }

  /** The length and the symbol of a long code that these 16 bits begin with. 0: there is none. */
  long(bits: number): number {
    for (let length = SHORT + 1; length <= 16; length++) {
      const code = bits >>> (16 - length)
      if (code < this.#ends[length]!)
        return (length << 8) | (this.#symbols[code + this.#places[length]!] ?? 0)
    }
    return 0
  }
}

/** The bits of a scan, without the zeros that are stuffed behind bytes 0xFF. Zeros follow the data's end. */
class Bits {
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  /** The bits that were read last. `#count` of them are not used, and `#added` of those follow the end of the data. */
  #held = 0
  #count = 0
  #added = 0

  /** The offset of the next byte to read in what is looked at, and how many bytes are left there. */
  get at(): number {
    return this.#at
  }

  get left(): number {
    return this.#bytes.byteLength - this.#at
  }

  /** Goes on in other bytes, at this offset. */
  look(bytes: Buffer, at: number): void {
    this.#bytes = bytes
    this.#at = at
  }

  /** The offset behind the last byte that was needed; whole bytes that were only read ahead were not. */
  get used(): number {
    let at = this.#at
    for (let ahead = (this.#count - this.#added) >> 3; ahead > 0; ahead--)
      at -= this.#bytes[at - 1] === 0 && this.#bytes[at - 2] === 0xff ? 2 : 1
    return at
  }

  /** So many bytes that were not needed stand before the next marker. */
  get rest(): number {
    const { used } = this
    let at = this.#bytes.indexOf(0xff, used)
    while (at >= 0 && this.#bytes[at + 1] === 0) at = this.#bytes.indexOf(0xff, at + 2)
    return (at < 0 ? this.#bytes.byteLength : at) - used
  }

  /** Goes on behind the restart marker; false: another one or none follows. */
  restart(): boolean {
    let at = this.used + this.rest
    while (this.#bytes[at] === 0xff) at++
    this.#at = at + 1
    this.#held = this.#count = this.#added = 0
    return (this.#bytes[at]! & 0xf8) === 0xd0
  }

  /** Reads over the blocks of a unit. False: they are no such blocks, or the data end before. */
  unit(blocks: readonly { dc: HuffmanCode; ac: HuffmanCode }[]): boolean {
    for (const { dc, ac } of blocks) {
      const size = this.#symbol(dc)
      if (size < 0 || size > 15) return false
      this.#skip(size)
      let coefficient = 1
      for (; coefficient < 64; coefficient++) {
        const symbol = this.#symbol(ac)
        if (symbol < 0) return false
        coefficient += symbol >> 4
        if ((symbol & 15) > 0) this.#skip(symbol & 15)
        // Sixteen zeros have a symbol of their own; all others without bits end the block.
        else if (symbol !== 0xf0) {
          coefficient = 64
          break
        }
      }
      if (coefficient > 64 || this.#count < this.#added) return false
    }
    return true
  }

  #symbol(code: HuffmanCode): number {
    this.#fill()
    const next = (this.#held >>> (this.#count - 16)) & 0xffff
    const found = code.short[next >>> (16 - SHORT)]! || code.long(next)
    this.#count -= found >> 8
    return found === 0 ? -1 : found & 0xff
  }

  #skip(bits: number): void {
    this.#fill()
    this.#count -= bits
  }

  #fill(): void {
    while (this.#count <= 16) {
      const byte = this.#bytes[this.#at]
      const isData = byte !== undefined && (byte !== 0xff || this.#bytes[this.#at + 1] === 0)
      if (isData) this.#at += byte === 0xff ? 2 : 1
      else this.#added += 8
      this.#held = (this.#held << 8) | (isData ? byte : 0)
      this.#count += 8
    }
  }
}
