import { ByteReader, type ByteSource } from '../../byte-reader.ts'
import { EntropyBits, type HuffmanCode, huffmanCode } from '../../entropy.ts'
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
  const bits = new EntropyBits(new Uint8Array())
  let offset = from
  for (let done = 0; ; done++) {
    if (bits.bytes.length - bits.at < UNIT && offset + bits.bytes.length < to) {
      offset += bits.at
      const bytes = await reader.bytes(offset, Math.min(UNIT, to - offset))
      bits.bytes = bytes?.subarray(0, to - offset) ?? new Uint8Array()
      bits.at = 0
    }
    const restarts = interval > 0 && done > 0 && done < count && done % interval === 0
    if (
      done === count ||
      (restarts && bits.restart() > SPARE) ||
      !unit.every(({ dc, ac }) => dc && ac && passBlock(bits, dc, ac))
    )
      return { complete: done === count, end: offset + bits.at - bits.ahead }
  }
}

/** Reads over a block. False: it is none, or the data end before. */
function passBlock(bits: EntropyBits, dc: HuffmanCode, ac: HuffmanCode): boolean {
  const size = bits.symbol(dc)
  if (size > 15) return false
  bits.take(size)
  for (let coefficient = 1; coefficient < 64; coefficient++) {
    const symbol = bits.symbol(ac)
    // Sixteen zeros have a symbol of their own; all others without bits end the block.
    if ((symbol & 15) === 0 && symbol !== 0xf0) break
    coefficient += symbol >> 4
    if (coefficient > 63) return false
    bits.take(symbol & 15)
  }
  return !bits.isOver
}
