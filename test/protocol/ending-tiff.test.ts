import { describe, expect, test } from 'vitest'
import { be16, be32, bytes, le16, le32 } from './bytes.ts'
import { endingOf } from './endings.ts'

const SHORT = 3
const LONG = 4
const WHOLE = { kind: 'whole' }
const cutFor = (missing: string) => ({ kind: 'cut', missing: expect.stringContaining(missing) })

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
function strips(order: Order, next = 0): Buffer {
  const { u32, head } = order
  const entries = [
    entry(order, 256, SHORT, 1, 10),
    entry(order, 257, SHORT, 1, 10),
    entry(order, 273, LONG, 2, 108),
    entry(order, 279, LONG, 2, 116),
  ]
  const pixels = Buffer.alloc(100, 5)
  const places = bytes(u32(8), u32(58), u32(50), u32(50))
  return bytes(head, u32(124), pixels, places, directory(order, entries, next))
}

describe.each([
  ['little', LITTLE],
  ['big', BIG],
])('a TIFF in %s endian', (_, order) => {
  const { u16, u32, head } = order

  test('is complete with its directory and all that it points at, and may always go on', async () => {
    expect(await endingOf(strips(order))).toEqual(WHOLE)
    expect(await endingOf(strips(order), 'more')).toEqual(WHOLE)
    const whole = strips(order)
    for (let length = 1; length < whole.length; length++)
      expect((await endingOf(whole.subarray(0, length))).kind).toBe('cut')
  })

  test('is not complete before its directory is written, as writers do at their end', async () => {
    expect(await endingOf(head, u32(0), Buffer.alloc(200, 5))).toEqual(cutFor('directory is not written'))
    expect(await endingOf(head, u32(150), Buffer.alloc(140, 5))).toEqual(cutFor('directory at byte 150'))
    expect(await endingOf(head, u32(150), Buffer.alloc(300))).toEqual(cutFor('byte 150'))
  })

  test('has strips that lie in it, whatever their order', async () => {
    const first = [
      entry(order, 273, LONG, 1, 200),
      entry(order, 279, LONG, 1, 100),
      entry(order, 256, SHORT, 1, 9),
    ]
    const file = bytes(head, u32(8), directory(order, first))
    const filled = bytes(file, Buffer.alloc(300 - file.length, 5))
    expect(await endingOf(filled)).toEqual(WHOLE)
    expect(await endingOf(filled.subarray(0, -1))).toEqual(cutFor('piece 1 of its pixels'))
  })

  test('whose strips are zeros at the end may be room that is reserved', async () => {
    const first = [entry(order, 273, LONG, 1, 200), entry(order, 279, LONG, 1, 5000)]
    const start = bytes(head, u32(8), directory(order, first))
    expect(await endingOf(start, Buffer.alloc(5200 - start.length))).toEqual({ kind: 'blank' })
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
    expect(await endingOf(tiles(50, 75, 25, 25))).toEqual(WHOLE)
    expect(await endingOf(tiles(50, 75, 25, 26))).toEqual(cutFor('piece 2'))
    expect(await endingOf(tiles(50, 0, 25, 0))).toEqual(WHOLE)
    expect(await endingOf(tiles(0, 0, 0, 0))).toEqual(cutFor('pixels are not written'))
  })

  test('has all of its pages, and of the smaller copies below them', async () => {
    const page = strips(order).length
    const further = [entry(order, 273, LONG, 1, 8), entry(order, 279, LONG, 1, 50)]
    expect(await endingOf(strips(order, page))).toEqual(cutFor(`directory at byte ${page}`))
    expect(await endingOf(strips(order, page), directory(order, further))).toEqual(WHOLE)
    const lost = [entry(order, 273, LONG, 1, 8), entry(order, 279, LONG, 1, 5000)]
    expect(await endingOf(strips(order, page), directory(order, lost))).toEqual(cutFor('piece 1'))
    const below = [entry(order, 330, LONG, 1, page + 18)]
    expect(await endingOf(strips(order, page), directory(order, below), directory(order, lost))).toEqual(
      cutFor('piece 1'),
    )
  })

  test('with directories that lead in a circle comes to an end', async () => {
    expect(await endingOf(strips(order, 124))).toEqual(WHOLE)
  })

  test('has what its other entries point at', async () => {
    const text = [entry(order, 273, LONG, 1, 8), entry(order, 279, LONG, 1, 8), entry(order, 270, 2, 40, 60)]
    const file = bytes(head, u32(8), directory(order, text))
    expect(await endingOf(file, Buffer.alloc(100 - file.length, 5))).toEqual(WHOLE)
    expect(await endingOf(file, Buffer.alloc(99 - file.length, 5))).toEqual(cutFor('tag 270'))
  })

  test('without a word of where its pixels are does not tell', async () => {
    expect(await endingOf(head, u32(8), directory(order, [entry(order, 256, SHORT, 1, 9)]))).toEqual({
      kind: 'unclear',
    })
  })
})

test('a BigTIFF is walked likewise', async () => {
  const u64 = (value: number) => bytes(le32(value), le32(0))
  const entry64 = (tag: number, value: number) => bytes(le16(tag), le16(16), u64(1), u64(value))
  const file = bytes('II+\0', le16(8), le16(0), u64(16), u64(2), entry64(273, 72), entry64(279, 30), u64(0))
  expect(file.length).toBe(72)
  expect(await endingOf(file, Buffer.alloc(30, 5))).toEqual(WHOLE)
  expect(await endingOf(file, Buffer.alloc(29, 5))).toEqual(cutFor('piece 1'))
  expect(await endingOf(file.subarray(0, 70))).toEqual(cutFor('directory at byte 16'))
})
