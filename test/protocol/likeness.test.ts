import { crc32, deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { sourceOfBytes } from '../../src/protocol/byte-reader.ts'
import type { Format } from '../../src/protocol/formats.ts'
import { jpegCoefficients } from '../../src/protocol/likeness/jpeg-coefficients.ts'
import { likeness, pictureReader } from '../../src/protocol/likeness/likeness.ts'
import { pngPixels } from '../../src/protocol/likeness/png-pixels.ts'
import { appSegment, be32, bytes, exif, pngChunk } from './bytes.ts'
import { chanceOf, drawn, RECODED, scanOf, segment, TABLES } from './jpeg/jpegs.ts'

async function compared(own: Uint8Array, delivered: Uint8Array, format: Format = 'jpeg') {
  const source = sourceOfBytes(own)
  const data = await pictureReader.data(format, source)
  return likeness(pictureReader, { format, data, source }, sourceOfBytes(delivered))
}

/** The first code of AC (00) ends a block, the second (01) is a coefficient; `RECODED` has them the other way round. */
const repacked = () => drawn({ tables: RECODED, isRecoded: true })

describe('a JPEG and what a host delivers in its place', () => {
  test('are the same picture without metadata, and when they are packed anew', async () => {
    const own = drawn({ before: bytes(exif(6), appSegment(13, 40)) })
    expect(await compared(own, drawn())).toBe('data')
    expect(await compared(own, repacked())).toBe('pixels')
    expect(await compared(drawn({ before: exif(1) }), drawn())).toBe('data')
    expect(await compared(drawn(), drawn({ before: exif(1) }))).toBe('data')
  })

  test('are others with another fact, another coefficient, another table or size', async () => {
    const own = drawn({ before: exif(6) })
    expect(await compared(own, drawn({ before: exif(3) }))).toBe('other')
    expect(await compared(drawn(), own)).toBe('other')
    expect(await compared(own, bytes(drawn(), 'a trailer'))).toBe('other')
    expect(await compared(drawn(), drawn({ width: 152 }))).toBe('other')
    expect(await compared(own, drawn({ width: 152 }))).toBe('turned')
    const scaled = bytes(segment(0xdb, 0, Buffer.alloc(64, 4)), TABLES.subarray(69))
    expect(await compared(drawn(), drawn({ tables: scaled }))).toBe('other')
    const scan = scanOf(own)
    const edited = Buffer.from(own)
    edited[scan + 40]! ^= 0x10
    expect(await compared(own, edited)).toBe('other')
    expect(await compared(own, Buffer.from('not found'))).toBe('other')
  })

  test('are not told apart where the codes are not understood', async () => {
    expect(await compared(drawn({ code: 0xc9 }), drawn({ code: 0xc9, isFlat: true }))).toBe('packed')
  })

  test('are read whatever the bytes, and nothing is thrown', async () => {
    const chance = chanceOf(11)
    for (let nth = 0; nth < 150; nth++) {
      const file = Buffer.from(drawn({ code: nth % 2 ? 0xc2 : 0xc0, sampling: ['2x2', '1x1', '1x1'] }))
      for (let each = 0; each < 1 + (nth % 3); each++) file[chance() % file.length] = chance()
      const sum = await jpegCoefficients(sourceOfBytes(file))
      expect(sum === null || sum.byteLength === 32).toBe(true)
    }
  })
})

describe('a PNG and what a host delivers in its place', () => {
  const png = (depth: number, colour: number, rows: Buffer, level: number, ...before: Uint8Array[]) =>
    bytes(
      '\x89PNG\r\n\x1a\n',
      pngChunk('IHDR', be32(3), be32(2), depth, colour, 0, 0, 0),
      ...before,
      pngChunk('IDAT', deflateSync(rows, { level })),
      pngChunk('IEND'),
    )
  const grey = (filter: number, ...rows: number[][]) =>
    Buffer.concat(rows.map(row => Buffer.from([filter, ...row])))
  const own = png(8, 0, grey(0, [1, 2, 3], [4, 6, 9]), 0, pngChunk('tEXt', 'Title\0x'))

  test('are the same with other filters, as true colour, with a palette, and with 16 bits', async () => {
    const same = [
      png(8, 0, grey(1, [1, 1, 1], [4, 2, 3]), 9),
      png(8, 0, grey(2, [1, 2, 3], [3, 4, 6]), 9),
      png(8, 0, grey(4, [1, 1, 1], [3, 2, 3]), 9),
      png(8, 2, grey(0, [1, 1, 1, 2, 2, 2, 3, 3, 3], [4, 4, 4, 6, 6, 6, 9, 9, 9]), 9),
      png(16, 0, grey(0, [1, 1, 2, 2, 3, 3], [4, 4, 6, 6, 9, 9]), 9),
      png(
        8,
        3,
        grey(0, [0, 1, 2], [3, 4, 5]),
        9,
        pngChunk('PLTE', ...[1, 2, 3, 4, 6, 9].flatMap(v => [v, v, v])),
      ),
    ]
    for (const each of same) expect(await compared(own, each, 'png')).toBe('pixels')
    expect(await compared(own, png(8, 0, grey(0, [1, 2, 3], [4, 6, 9]), 0), 'png')).toBe('data')
  })

  test('are others with another pixel, or one that is clear', async () => {
    expect(await compared(own, png(8, 0, grey(0, [1, 2, 3], [4, 6, 8]), 9), 'png')).toBe('other')
    const clear = png(8, 0, grey(0, [1, 2, 3], [4, 6, 9]), 9, pngChunk('tRNS', 0, 9))
    expect(await compared(own, clear, 'png')).toBe('other')
  })

  test('what can not be read has no pixels', async () => {
    expect(await pngPixels(sourceOfBytes(own.subarray(0, -1)))).toBeNull()
    const interlaced = Buffer.from(own)
    interlaced[28] = 1
    interlaced.writeUInt32BE(crc32(interlaced.subarray(12, 29)), 29)
    expect(await pngPixels(sourceOfBytes(interlaced))).toBeNull()
  })
})
