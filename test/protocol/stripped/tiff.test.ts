import { describe, expect, test } from 'vitest'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { stripped } from '../../../src/protocol/picture/stripped/stripped.ts'
import { walkTiff } from '../../../src/protocol/picture/tiff.ts'
import { bytes } from '../bytes.ts'
import { drawn, segment } from '../jpeg/jpegs.ts'
import { partsOf } from '../verdicts.ts'
import { BIG, camera, type Entries, fullTiff, LITTLE, tiffOf } from './samples.ts'
import { obstacle, strippedBytes } from './stripping.ts'

describe.each([LITTLE, BIG])('a TIFF that begins with $head', order => {
  /** One strip at byte 1000. */
  const strip = (pixels: Buffer, more: Entries = {}) => {
    const entries: Entries = { 256: { short: 9 }, 259: { short: 5 }, 273: { long: 1000 }, ...more }
    const all = { ...entries, 279: { long: pixels.length } }
    const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => Number(a) - Number(b)))
    return bytes(Buffer.concat([tiffOf(order, sorted)], 1000), pixels)
  }
  const PIXELS = Buffer.alloc(50, 7)

  test('has all pixels of all its pages in their places afterwards, and zeros instead of what goes', async () => {
    const file = fullTiff(order)
    const made = await strippedBytes('tiff', file, 'all')
    const pixels = async (of: Buffer) => (await partsOf(walkTiff, of)).filter(({ role }) => role === 'image')
    expect(await pixels(made)).toEqual(await pixels(file))
    for (const { from, to } of await pixels(file))
      expect(made.subarray(from, to)).toEqual(file.subarray(from, to))
    expect((await partsOf(walkTiff, made)).filter(({ role }) => role === 'index')).toHaveLength(3)
    expect(made).toHaveLength(2200)
  })

  test('keeps how it is turned, also where it is not', async () => {
    for (const turn of [1, 6]) {
      const made = await strippedBytes('tiff', strip(PIXELS, { 274: { short: turn }, 305: 'PLACE' }), 'all')
      expect(made).toEqual(Buffer.concat([strip(PIXELS, { 274: { short: turn } }).subarray(0, 1000), PIXELS]))
    }
  })

  test('keeps bytes that something that stays names, too', async () => {
    const file = strip(Buffer.from('PLACE-TEXT is made of pixels'), { 305: 'a long text' })
    // The text lies among the pixels now.
    const number = order.u16(305)
    order.u32(1000).copy(file, file.indexOf(number, 8) + 8)
    const made = await strippedBytes('tiff', file, 'all')
    expect(made.subarray(1000)).toEqual(file.subarray(1000))
  })

  test('keeps nothing of a camera whose directory can not be read', async () => {
    const outside: Entries = { 42036: 'a lens that lies elsewhere' }
    for (const photo of [
      { long: 1e6 },
      { below: outside },
      { below: { 33434: Buffer.from('PLACE-MAKER') } },
    ]) {
      const file = strip(PIXELS, { 34665: photo, 271: 'TheMaker', 315: Buffer.from('PLACE-TEXT') })
      const lens = file.indexOf(order.u16(42_036), 8)
      if (lens > 0) order.u32(1e6).copy(file, lens + 8)
      const made = await strippedBytes('tiff', file, 'location')
      expect(made.includes('TheMaker')).toBe(true)
      expect(made.includes('PLACE')).toBe(false)
      expect(made.includes(order.u16(34_665))).toBe(false)
    }
  })

  test('has nothing behind the directory of a camera', async () => {
    const [file, linked] = [fullTiff(order), fullTiff(order)]
    const first = file.indexOf(bytes(order.u16(33_434), order.u16(5)))
    order.u32(1500).copy(linked, first + 12 * 8)
    expect(await strippedBytes('tiff', linked, 'location')).toEqual(
      await strippedBytes('tiff', file, 'location'),
    )
  })

  test('packed as a JPEG may have no metadata within', async () => {
    const of = (jpeg: Buffer) => obstacle('tiff', strip(jpeg, { 259: { short: 7 } }))
    expect(await of(drawn())).toBe('same')
    const exif = segment(0xe1, 'Exif\0\0', camera())
    expect(await of(drawn({ before: exif }))).toMatchObject({ code: 'not_understood', part: 'strip 1' })
    expect(await of(drawn().subarray(0, -20))).toMatchObject({ code: 'not_understood' })
    const long = segment(0xe1, Buffer.alloc(5000, 7))
    const within = bytes(drawn().subarray(0, -2), long, drawn().subarray(-2))
    expect(await of(within)).toMatchObject({ code: 'not_understood' })
    const short = strip(drawn(), { 259: { short: 7 } })
    order.u32(drawn().length - 3).copy(short, short.indexOf(order.u16(279), 8) + 8)
    expect(await obstacle('tiff', short)).toMatchObject({ code: 'not_understood' })
  })

  test('packed as an old JPEG may have no metadata within', async () => {
    const old = { 259: { short: 6 }, 513: { long: 1000 } }
    const without = { ...old, 514: { long: drawn().length } }
    expect(await obstacle('tiff', strip(drawn(), without))).toBe('same')
    const full = drawn({ before: segment(0xe1, 'Exif\0\0', camera()) })
    const file = strip(full, { ...old, 514: { long: full.length } })
    expect(await obstacle('tiff', file)).toMatchObject({ code: 'not_understood', part: 'JPEG 1' })
  })

  test('packed by others, or as an old JPEG with tables apart, is an obstacle', async () => {
    const of = (more: Entries) => obstacle('tiff', strip(PIXELS, more))
    expect(await of({})).toBe('same')
    for (const packing of [34_712, 50_001])
      expect(await of({ 259: { short: packing } })).toMatchObject({ code: 'not_understood' })
    expect(await of({ 519: { long: [1000, 1010] } })).toMatchObject({ code: 'not_understood' })
  })

  test('with a directory that can not be left out, or is part of something else, is an obstacle', async () => {
    const below = (entries: Entries) => obstacle('tiff', strip(PIXELS, { 330: { below: entries } }))
    expect(await below({ 256: { short: 3 } })).toBe('same')
    expect(await below({ 305: 'PLACE' })).toMatchObject({ code: 'not_understood', part: 'directory 2' })
    // The second directory is the first one, from its second entry on.
    const shared = strip(PIXELS, { 330: { long: 1010 } })
    tiffOf(order, { 256: { short: 1 }, 305: { short: 1 } }, { at: 1010 }).copy(shared, 1010)
    expect(await obstacle('tiff', shared)).toMatchObject({ code: 'not_understood', part: 'directory 1' })
    const pixels = strip(PIXELS)
    order.u32(20).copy(pixels, pixels.indexOf(order.u16(273), 8) + 8)
    expect(await obstacle('tiff', pixels)).toMatchObject({ code: 'not_understood', part: 'directory 1' })
  })

  test('that lacks something, or whose lengths are not true, is an obstacle', async () => {
    expect(await obstacle('tiff', strip(PIXELS).subarray(0, -1))).toMatchObject({ code: 'not_whole' })
    const endless = strip(PIXELS, { 259: { short: 1 } })
    order.u32(0).copy(endless, endless.indexOf(order.u16(279), 8) + 8)
    expect(await obstacle('tiff', endless)).toMatchObject({ code: 'not_understood', part: 'strip 1' })
  })

  test('of more numbers than are read is an obstacle, and not half a picture', async () => {
    const places = Array.from({ length: 160_000 }, (_, nth) => 8 + (nth % 100))
    const file = tiffOf(order, { 273: { long: places }, 279: { long: places.map(() => 1) } })
    expect(await obstacle('tiff', file)).toMatchObject({ code: 'too_many' })
  })

  /** Pages of one number, 50 bytes apart, the first with pixels and the others with a camera's directory at `photo`. */
  const pages = (count: number, photo: number) =>
    Array.from({ length: count }, (_, nth) => {
      const next = nth === count - 1 ? 0 : 100 + 50 * nth
      const first: Entries = { 256: { short: 1 }, 273: { long: 60 }, 279: { long: 2 } }
      if (nth === 0) return Buffer.concat([tiffOf(order, first, { next }), Buffer.alloc(100, 1)], 100)
      const page = tiffOf(order, { 256: { short: 1 }, 34665: { long: photo } }, { at: 50 + 50 * nth, next })
      return Buffer.concat([page], 50)
    })

  test('of more directories, or more entries of cameras, than are read is an obstacle', async () => {
    expect(await obstacle('tiff', bytes(...pages(999, 0)))).toBe('made')
    expect(await obstacle('tiff', bytes(...pages(1000, 0)))).toMatchObject({ code: 'too_many' })
    // Each page has the same camera's directory, of entries without a meaning.
    const start = Buffer.concat(pages(6, 400), 400)
    const many = bytes(start, order.u16(65_535), Buffer.alloc(12 * 65_535 + 4, 1))
    const found = await stripped('tiff', sourceOfBytes(many), 'location')
    expect(found).toMatchObject({ kind: 'impossible', why: { code: 'too_many', part: 'directory 6' } })
  })
})
