import type { ByteSource } from '../source.ts'

/**
 * A text with one byte for each of its code units: UTF-16 narrowed, all else as it is. What is not Latin-1 becomes a
 * question mark, for the signs of XML are ASCII. `head`: its first two bytes.
 */
export function oneByteText(source: ByteSource, head: Uint8Array): ByteSource {
  const [first, second] = head
  const little = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)
  const big = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)
  if (!little && !big) return source
  return {
    size: Math.floor(source.size / 2),
    async read(offset, length) {
      const wide = await source.read(2 * offset, 2 * length)
      const narrow = Buffer.alloc(wide.byteLength >> 1)
      for (let at = 0; at < narrow.length; at++) {
        const [high, low] = little ? [wide[2 * at + 1], wide[2 * at]] : [wide[2 * at], wide[2 * at + 1]]
        narrow[at] = high === 0 ? low! : 0x3f
      }
      return narrow
    },
  }
}
