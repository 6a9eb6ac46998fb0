import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import type { ImageData } from '../../../src/protocol/picture/image-data.ts'
import { imageData } from '../../../src/protocol/picture/image-data.ts'
import { appSegment, bytes, exif } from '../bytes.ts'
import { AC, chanceOf, DC, type Drawn, drawn, QUANT, scanOf, segment, TABLES } from './jpegs.ts'

const dataOf = (file: Uint8Array): Promise<ImageData | null> => imageData('jpeg', sourceOfBytes(file))
const sumOf = async (file: Uint8Array) => (await dataOf(file))?.sum.toString('hex')

const KINDS: Drawn[] = [
  {},
  {
    interval: 3,
    sampling: ['2x2', '1x1', '1x1'],
  },
  {
    isApart: true,
    sampling: ['2x1', '1x1', '1x1'],
  },
  { code: 0xc2 },
  { code: 0xc9 },
]

describe('the image data of a JPEG', () => {
  const metadata = fc.constantFrom(
    exif(6),
    appSegment(0, 14),
    segment(0xfe, 'a comment'),
    segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0<rdf:RDF/>'),
    segment(0xe2, 'ICC_PROFILE\0\x01\x01', 'a profile'),
    segment(0xed, 'Photoshop 3.0\0'),
    segment(0xee, 'Adobe', Buffer.alloc(6), 1),
    Buffer.alloc(3, 0xff),
  )
  /** All of `TABLES`, in other segments, in another order, or with others of the same number before. */
  const tables = fc.constantFrom(
    TABLES,
    bytes(segment(0xc4, 0, DC, 0x10, AC), segment(0xdb, 0, QUANT)),
    bytes(segment(0xc4, 0x10, AC), segment(0xc4, 0, DC), segment(0xdb, 5, QUANT, 0, QUANT)),
    bytes(segment(0xdb, 0, Buffer.alloc(64, 9)), segment(0xc4, 0, AC), TABLES),
  )

  test('stays the same with other metadata and regrouped tables', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...KINDS),
        fc.array(metadata),
        tables,
        async (kind, segments, regrouped) => {
          const sum = await sumOf(drawn(kind))
          expect(sum).toMatch(/^[0-9a-f]{64}$/)
          expect(await sumOf(drawn({ ...kind, before: bytes(...segments), tables: regrouped }))).toBe(sum)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('is another with any other byte of a scan, of the frame or of a table', async () => {
    for (const kind of KINDS) {
      const file = drawn(kind)
      const sum = await sumOf(file)
      const bits = fc.tuple(
        fc.integer({ min: 2 + 5, max: file.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
      )
      await fc.assert(
        fc.asyncProperty(bits, async ([at, change]) => {
          const changed = Buffer.from(file)
          changed[at]! ^= change
          expect(await sumOf(changed)).not.toBe(sum)
        }),
        { numRuns: 150 },
      )
    }
    expect(await sumOf(drawn({ interval: 3 }))).not.toBe(await sumOf(drawn({ interval: 4 })))
    const other = bytes(segment(0xdb, 0, Buffer.alloc(64, 4)), TABLES.subarray(69))
    expect(await sumOf(drawn({ tables: other }))).not.toBe(await sumOf(drawn()))
  })

  test('has facts beside it that change the look', async () => {
    const profile = segment(0xe2, 'ICC_PROFILE\0\x01\x01', 'a profile')
    const adobe = segment(0xee, 'Adobe', Buffer.alloc(6), 2)
    const file = bytes(drawn({ before: bytes(exif(6), profile, adobe) }), 'a trailer')
    const icc = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect((await dataOf(file))!.facts).toEqual({ orientation: 6, icc, transform: 2, trailer: 9 })
    expect((await dataOf(drawn()))!.facts).toEqual({ trailer: 0 })
    const two = segment(0xe2, 'ICC_PROFILE\0\x01\x01', 'another one')
    expect((await dataOf(drawn({ before: two })))!.facts.icc).not.toBe((await dataOf(file))!.facts.icc)
  })

  test('is not told of a picture that is not whole, or of another format', async () => {
    const file = drawn()
    expect(await dataOf(file.subarray(0, -1))).toBeNull()
    expect(await dataOf(file.subarray(0, scanOf(file) + 9))).toBeNull()
    expect(await dataOf(Buffer.alloc(100))).toBeNull()
    expect(await imageData('bmp', sourceOfBytes(file))).toBeNull()
  })

  test('is told or not, and nothing is thrown, whatever the bytes', async () => {
    const chance = chanceOf(5)
    for (let nth = 0; nth < 1500; nth++) {
      const file = Buffer.from(drawn(KINDS[nth % KINDS.length]))
      for (let each = 0; each < 1 + (nth % 4); each++)
        file[nth % 2 ? chance() % file.length : chance() % scanOf(file)] = chance()
      const data = await dataOf(file.subarray(0, nth % 3 ? file.length : chance() % file.length))
      expect(data === null || data.sum.byteLength === 32).toBe(true)
    }
  })
})
