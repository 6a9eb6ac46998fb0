import { describe, expect, test } from 'vitest'
import { ByteReader } from '../../src/protocol/byte-reader.ts'
import { walkTiff } from '../../src/protocol/picture/tiff.ts'
import { be16, be32, bytes, le16, le32 } from './bytes.ts'
import { SparseSource } from './sources.ts'
import { partsOf, verdictOf } from './verdicts.ts'

const SHORT = 3
const LONG = 4
const CLOSED = { kind: 'closed', early: false }
const missing = (code: string, part: string) => ({ kind: 'missing', code, part })
const odd = (code: string, part: string) => ({ kind: 'odd', code, part })

interface Order {
  u16: (value: number) => Buffer
  u32: (value: number) => Buffer
  head: string
}

const LITTLE: Order = { u16: le16, u32: le32, head: 'II*\0' }
const BIG: Order = { u16: be16, u32: be32, head: 'MM\0*' }

/** An entry with one number, or with the offset of several. */
function entry({ u16, u32 }: Order, tag: number, type: number, count: number, value: number): Buffer {
  const inEntry = type === SHORT && count === 1 ? bytes(u16(value), u16(0)) : u32(value)
  return bytes(u16(tag), u16(type), u32(count), inEntry)
}

function directory({ u16, u32 }: Order, entries: Buffer[], next = 0): Buffer {
  return bytes(u16(entries.length), ...entries, u32(next))
}

/** Two strips of 50 bytes at 8 and 58, their offsets at 108 and lengths at 116, the directory at 124. */
function strips(order: Order, next = 0, lengths = [50, 50]): Buffer {
  const { u32, head } = order
  const entries = [
    entry(order, 256, SHORT, 1, 10),
    entry(order, 257, SHORT, 1, 10),
    entry(order, 258, SHORT, 1, 8),
    entry(order, 273, LONG, 2, 108),
    entry(order, 278, LONG, 1, 5),
    entry(order, 279, LONG, 2, 116),
  ]
  const places = bytes(u32(8), u32(58), ...lengths.map(u32))
  return bytes(head, u32(124), Buffer.alloc(100, 5), places, directory(order, entries, next))
}

describe.each([
  ['little', LITTLE],
  ['big', BIG],
])('a TIFF in %s endian', (_, order) => {
  const { u16, u32, head } = order

  test('is closed with its directory and all that it points at, and may always go on', async () => {
    const whole = strips(order)
    expect(await verdictOf(walkTiff, whole)).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, whole, 'more')).toEqual(CLOSED)
    for (let length = 1; length < whole.length; length++)
      expect(await verdictOf(walkTiff, whole.subarray(0, length))).toMatchObject({
        // Only the pointer to the next directory is missing.
        kind: length === whole.length - 4 ? 'odd' : 'missing',
      })
    const [, first] = await partsOf(walkTiff, whole)
    expect(first!.states).toEqual({ width: 10, height: 10 })
  })

  test('is missing before its directory is written, as writers do at their end', async () => {
    expect(await verdictOf(walkTiff, head, u32(0), Buffer.alloc(200, 5))).toMatchObject(
      missing('unwritten', 'header'),
    )
    expect(await verdictOf(walkTiff, head, u32(150), Buffer.alloc(140, 5))).toMatchObject(
      missing('cut', 'directory 1'),
    )
    expect(await verdictOf(walkTiff, head, u32(150), Buffer.alloc(300))).toMatchObject(
      missing('unwritten', 'directory 1'),
    )
    expect(await verdictOf(walkTiff, strips(order).fill(0, 150))).toMatchObject({
      ...missing('unwritten', 'directory 1'),
    })
  })

  test('has strips that lie in it, whatever their order', async () => {
    const first = [
      entry(order, 273, LONG, 1, 200),
      entry(order, 279, LONG, 1, 100),
      entry(order, 256, SHORT, 1, 9),
    ]
    const file = bytes(head, u32(8), directory(order, first))
    const filled = bytes(file, Buffer.alloc(300 - file.length, 5))
    expect(await verdictOf(walkTiff, filled)).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, filled.subarray(0, -1))).toMatchObject(missing('cut', 'strip 1'))
  })

  test('whose lengths are 0, absent or too large is computed where it is not compressed', async () => {
    expect(await verdictOf(walkTiff, strips(order, 0, [0, 0]))).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, strips(order, 0, [50, 400]))).toMatchObject(odd('length', 'strip 2'))
    const only = (rows: number) => {
      const numbers: [number, number][] = [
        ...([
          [256, 10],
          [257, rows],
          [258, 8],
          [273, 80],
          [278, rows],
        ] as [number, number][]),
      ]
      const start = bytes(
        head,
        u32(8),
        directory(
          order,
          numbers.map(([tag, value]) => entry(order, tag, SHORT, 1, value)),
        ),
      )
      return bytes(start, Buffer.alloc(80 - start.length), Buffer.alloc(100, 5))
    }
    expect(await verdictOf(walkTiff, only(10))).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, only(11))).toMatchObject(missing('cut', 'strip 1'))
  })

  /** Strips of 4000 bytes from byte 200 on, of this compression. */
  const long = (compression: number, count = 5, fill = 5) => {
    const entries = [
      entry(order, 259, SHORT, 1, compression),
      entry(order, 273, LONG, count, 100),
      entry(order, 279, LONG, count, 100 + 4 * count),
    ]
    const start = bytes(head, u32(8), directory(order, entries))
    const places = Array.from({ length: count }, (_, at) => u32(200 + 4000 * at))
    const listed = bytes(...places, ...places.map(() => u32(4000)))
    const filled = bytes(
      start,
      Buffer.alloc(100 - start.length, 5),
      listed,
      Buffer.alloc(100 - listed.length, 5),
    )
    return bytes(filled, Buffer.alloc(4000 * count, fill))
  }

  test('with a page of zeros may be dark there, but not in compressed pixels, also across two strips', async () => {
    expect(await verdictOf(walkTiff, long(1).fill(0, 4096, 8192))).toMatchObject(odd('zeros', 'strip 2'))
    expect(await verdictOf(walkTiff, long(32773).fill(0, 4096, 8192))).toMatchObject(
      missing('unwritten', 'strip 2'),
    )
    expect(await verdictOf(walkTiff, long(5).fill(0, 4200, 8200))).toMatchObject(
      missing('unwritten', 'strip 2'),
    )
    expect(await verdictOf(walkTiff, long(5))).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, long(1, 5, 0))).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, long(1), Buffer.alloc(5000))).toMatchObject(odd('zeros', 'rest'))
  })

  test('has tiles that lie in it; some of no length are left out on purpose, not all', async () => {
    const tiles = (...places: number[]) => {
      const entries = [entry(order, 324, LONG, 2, 42), entry(order, 325, SHORT, 2, 0)]
      // Two lengths of two bytes stand in the entry itself.
      entries[1] = bytes(u16(325), u16(SHORT), u32(2), u16(places[2]!), u16(places[3]!))
      const listed = bytes(u32(places[0]!), u32(places[1]!))
      const start = bytes(head, u32(8), directory(order, entries))
      return bytes(start, Buffer.alloc(42 - start.length), listed, Buffer.alloc(50, 5))
    }
    expect(await verdictOf(walkTiff, tiles(50, 75, 25, 25))).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, tiles(50, 75, 25, 26))).toMatchObject(missing('cut', 'tile 2'))
    expect(await verdictOf(walkTiff, tiles(50, 0, 25, 0))).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, tiles(50, 0, 25, 25))).toEqual({
      ...missing('unwritten', 'offset of tile 2'),
      at: 46,
    })
    expect(await verdictOf(walkTiff, tiles(0, 0, 0, 0))).toEqual({
      ...missing('unwritten', 'offset of tile 1'),
      at: 42,
    })
  })

  test('has all of its pages, and of the smaller copies below them', async () => {
    const page = strips(order).length
    const further = [entry(order, 273, LONG, 1, 8), entry(order, 279, LONG, 1, 50)]
    const lost = [entry(order, 273, LONG, 1, 8), entry(order, 279, LONG, 1, 5000)]
    const below = [entry(order, 330, LONG, 1, page + 18)]
    const of = (...rest: Buffer[]) => verdictOf(walkTiff, strips(order, page), ...rest)
    expect(await of()).toMatchObject(missing('cut', 'directory 2'))
    expect(await of(directory(order, further))).toEqual(CLOSED)
    expect(await of(directory(order, lost))).toMatchObject(missing('cut', 'strip 1'))
    expect(await of(directory(order, below), directory(order, lost))).toMatchObject(missing('cut', 'strip 1'))
  })

  test('may end with a directory without entries, if that is not room that is reserved', async () => {
    const of = (zeros: number) =>
      verdictOf(walkTiff, strips(order, strips(order).length), Buffer.alloc(zeros))
    expect(await of(6)).toMatchObject(odd('announced', 'directory 2'))
    expect(await of(500)).toMatchObject(missing('unwritten', 'directory 2'))
  })

  test('with directories that lead in a circle comes to an end', async () => {
    expect(await verdictOf(walkTiff, strips(order, 124))).toEqual(CLOSED)
  })

  test('has what its other entries point at', async () => {
    const text = [entry(order, 273, LONG, 1, 8), entry(order, 279, LONG, 1, 8), entry(order, 270, 2, 40, 60)]
    const file = bytes(head, u32(8), directory(order, text))
    expect(await verdictOf(walkTiff, file, Buffer.alloc(100 - file.length, 5))).toEqual(CLOSED)
    expect(await verdictOf(walkTiff, file, Buffer.alloc(99 - file.length, 5))).toMatchObject(
      missing('cut', 'tag 270'),
    )
  })

  test('without a word of where its pixels are has none', async () => {
    expect(
      await verdictOf(walkTiff, head, u32(8), directory(order, [entry(order, 256, SHORT, 1, 9)])),
    ).toMatchObject({
      kind: 'missing',
      code: 'no_pixels',
    })
  })

  test('that is a camera’s raw picture says so', async () => {
    const dng = bytes(head, u32(8), directory(order, [entry(order, 50_706, LONG, 1, 1)]))
    expect((await partsOf(walkTiff, dng))[1]!.states).toEqual({ raw: true })
  })

  test('with many directories in the same zeros does not read these for each', async () => {
    const file = bytes(head, u32(8), directory(order, [entry(order, 330, LONG, 1000, 26)]))
    const offsets = Array.from({ length: 1000 }, (_, nth) => u32(10_000 + 2 * nth))
    const source = new SparseSource(1e6, [{ at: 0, bytes: bytes(file, ...offsets) }])
    for await (const _ of walkTiff(new ByteReader(source)));
    expect(source.bytesRead).toBeLessThan(500_000)
  })

  test('that names the same bytes again and again costs no more', async () => {
    const entries = [entry(order, 273, LONG, 50_000, 1e6), entry(order, 279, LONG, 50_000, 1.2e6)]
    const file = bytes(head, u32(8), directory(order, entries), Buffer.alloc(1.4e6, 1))
    for (let at = 0; at < 50_000; at++) {
      u32(100 + at).copy(file, 1e6 + 4 * at)
      u32(900_000).copy(file, 1.2e6 + 4 * at)
    }
    expect(await verdictOf(walkTiff, file)).toEqual(CLOSED)
  }, 20_000)
})
