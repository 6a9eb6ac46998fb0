import { expect, test } from 'vitest'
import { humanSize } from '../../src/host/listing.ts'

test('sizes read as people write them', () => {
  const sizes: [number, string][] = [
    [1, '1 B'],
    [999, '999 B'],
    [1000, '1.0 KB'],
    [349_915, '349.9 KB'],
    [999_949, '999.9 KB'],
    [999_950, '1.0 MB'],
    [52_428_800, '52.4 MB'],
    [3_200_000_000, '3.2 GB'],
    [5e15, '5000.0 TB'],
  ]
  for (const [bytes, text] of sizes) expect(humanSize(bytes)).toBe(text)
})
