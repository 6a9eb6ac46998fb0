import { ByteReader, type ByteSource } from '../byte-reader.ts'
import type { Units } from './tables.ts'

/** A unit's ten blocks of 64 coefficients with 31 bits, each byte stuffed, fit into so many bytes, and a marker does too. */
const UNIT = 8192
/** So many bytes may be left over before a marker: the last bits, and what encoders add. */
export const SPARE = 3

/** Counts the blocks between these offsets by the lengths of their Huffman codes (ITU-T T.81, F.2.2), without computing a
 * pixel. Whoever loses step, as in a hole, ends too early or too late. `end`: the offset behind the last byte that was
 * needed. */
export async function countBlocks(
  source: ByteSource,
  from: number,
  to: number,
  { count, interval, blocks }: Units,
): Promise<{ complete: boolean; end: number }> {
  const reader = new ByteReader(source)
  const unit = blocks.map(({ dc, ac }) => ({ dc: huffmanCode(dc), ac: huffmanCode(ac) }))
  const bits = new Bits()
  let offset = from
  for (let done = 0; ; done++) {
    const at = offset + bits.at
    if (bits.bytes.byteLength - bits.at < UNIT && offset + bits.bytes.byteLength < to) {
      bits.bytes = (await reader.bytes(at, Math.min(UNIT, to - at)))?.subarray(0, to - at) ?? Buffer.alloc(0)
      bits.at = 0
      offset = at
    }
    const restarts = interval > 0 && done > 0 && done < count && done % interval === 0
    if (done === count || (restarts && !bits.restart()) || !unit.every(each => bits.block(each)))
      return { complete: done === count, end: offset + bits.at }
  }
}

/** A Huffman code: by the length of its codes, the code behind the last one, and what leads from one to its symbol. */
interface HuffmanCode {
  ends: number[]
  places: number[]
  table: Buffer
}

/** `table`: how many codes there are of each length from 1 to 16, and their symbols. */
function huffmanCode(table: Buffer): HuffmanCode {
  const [ends, places]: [number[], number[]] = [[], []]
  for (let length = 1, code = 0, place = 16; length <= 16; length++, code *= 2) {
    const count = table[length - 1]!
    places[length] = place - code
    ends[length] = code += count
    place += count
  }
  return { ends, places, table }
}

/** The bits of a scan, without the zeros that are stuffed behind bytes 0xFF. */
class Bits {
  bytes: Buffer = Buffer.alloc(0)
  /** The offset of the next byte in `bytes`; `#left` bits of the one before are not used. */
  at = 0
  #byte = 0
  #left = 0

  /** Goes on behind the restart marker; false: another one or none follows. */
  restart(): boolean {
    let marker = this.bytes.indexOf(0xff, this.at)
    if (marker < 0 || marker - this.at > SPARE) return false
    while (this.bytes[marker] === 0xff) marker++
    this.at = marker + 1
    this.#left = 0
    return (this.bytes[marker]! & 0xf8) === 0xd0
  }

  /** Reads over a block. False: it is none, or the data end before. */
  block({ dc, ac }: { dc: HuffmanCode; ac: HuffmanCode }): boolean {
    const size = this.#symbol(dc)
    if (size < 0 || size > 15 || !this.#skip(size)) return false
    for (let coefficient = 1; coefficient < 64; coefficient++) {
      const symbol = this.#symbol(ac)
      // Sixteen zeros have a symbol of their own; all others without bits end the block.
      if (symbol >= 0 && (symbol & 15) === 0 && symbol !== 0xf0) return true
      coefficient += symbol >> 4
      if (symbol < 0 || coefficient > 63 || !this.#skip(symbol & 15)) return false
    }
    return true
  }

  /** -1: the bits are no symbol, or the data end before. */
  #symbol({ ends, places, table }: HuffmanCode): number {
    for (let length = 1, code = 0; length <= 16; length++) {
      if (this.#left === 0 && !this.#next()) return -1
      code = 2 * code + ((this.#byte >> --this.#left) & 1)
      if (code < ends[length]!) return table[code + places[length]!] ?? -1
    }
    return -1
  }

  #skip(bits: number): boolean {
    let over = bits - this.#left
    for (; over > 0; over -= 8) if (!this.#next()) return false
    this.#left = -over
    return true
  }

  #next(): boolean {
    const byte = this.bytes[this.at]
    if (byte === undefined || (byte === 0xff && this.bytes[this.at + 1] !== 0)) return false
    this.at += byte === 0xff ? 2 : 1
    this.#byte = byte
    this.#left = 8
    return true
  }
}
