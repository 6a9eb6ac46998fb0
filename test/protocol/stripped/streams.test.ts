import { describe, expect, test } from 'vitest'
import { walkGif } from '../../../src/protocol/picture/gif.ts'
import { walkJpeg } from '../../../src/protocol/picture/jpeg/jpeg.ts'
import { walkPng } from '../../../src/protocol/picture/png.ts'
import { walkWebp } from '../../../src/protocol/picture/webp.ts'
import { be16, bytes, le32, pngChunk, webpChunk, webpOf } from '../bytes.ts'
import { drawn, scanOf, segment } from '../jpeg/jpegs.ts'
import { partsOf } from '../verdicts.ts'
import { BIG, camera, fullGif, fullJpeg, fullPng, fullWebp, ICC, LITTLE, tiffOf } from './samples.ts'
import { obstacle, strippedBytes } from './stripping.ts'

const names = async (...of: Parameters<typeof partsOf>) => (await partsOf(...of)).map(({ name }) => name)

describe('of a JPEG', () => {
  test('the frame, tables, scans, colours and JFIF stay', async () => {
    const made = await strippedBytes('jpeg', fullJpeg(), 'all')
    expect(await names(walkJpeg, made)).toEqual([
      'SOI',
      'APP0',
      'APP1',
      'APP2',
      'APP14',
      'DQT',
      'DHT',
      'DHT',
      'SOF0',
      'SOS',
      'scan',
      'EOI',
    ])
    expect(made.includes(ICC)).toBe(true)
    expect(made.includes(segment(0xee, 'Adobe', be16(100), be16(0), be16(0), 1))).toBe(true)
    expect(made.includes(segment(0xe0, 'JFIF\0', 1, 2, 1, be16(72), be16(72), 0, 0))).toBe(true)
  })

  test('the restarts and all scans stay', async () => {
    const file = drawn({ sampling: ['2x2', '1x1', '1x1'], interval: 3, isApart: true })
    expect(await obstacle('jpeg', file)).toBe('same')
  })

  test('the missing end mark is written', async () => {
    const whole = drawn()
    expect(await strippedBytes('jpeg', whole.subarray(0, -2), 'all')).toEqual(whole)
  })

  test('whatever follows its end goes', async () => {
    expect(await strippedBytes('jpeg', bytes(drawn(), 'PLACE-FILM'), 'all')).toEqual(drawn())
  })

  test('bytes between segments go', async () => {
    const junk = bytes(drawn().subarray(0, 2), 'junk', drawn().subarray(2))
    expect(await strippedBytes('jpeg', junk, 'all')).toEqual(drawn())
  })

  test('what stands among the pixels, or what may change them, is an obstacle', async () => {
    const [whole, at] = [drawn(), scanOf(drawn())]
    const long = segment(0xe1, 'Exif\0\0', camera(), Buffer.alloc(5000, 7))
    const within = (middle: Buffer) => bytes(whole.subarray(0, -2), middle, whole.subarray(-2))
    expect(await obstacle('jpeg', within(long))).toEqual({ code: 'not_understood', part: 'scan', at })
    expect(await obstacle('jpeg', drawn({ before: segment(0xde, 0, 0) }))).toEqual({
      code: 'not_understood',
      part: 'marker 222',
      at: 2,
    })
    expect(await obstacle('jpeg', whole.subarray(0, at + 9))).toMatchObject({ code: 'not_whole' })
    // Also where the pixels are read in two pieces.
    for (let length = 65_530; length < 65_545; length++) {
      const pixels = Buffer.concat([whole.subarray(0, at), Buffer.alloc(length, 0x55)])
      expect(await obstacle('jpeg', bytes(pixels, long, whole.subarray(at)))).toMatchObject({ part: 'scan' })
    }
    // Metadata of a common size between two scans are seen.
    expect(await strippedBytes('jpeg', within(segment(0xfe, 'PLACE-TEXT')), 'all')).toEqual(whole)
  })

  test('EXIF that is broken gives what can be read of it, and nothing from outside', async () => {
    const outside = tiffOf(LITTLE, { 271: 'TheMaker', 272: 'TheModel' })
    const inside = tiffOf(LITTLE, { 271: 'TheMaker' })
    const of = (exif: Buffer) => strippedBytes('jpeg', fullJpeg(exif), 'location')
    // The place of the model's name now lies behind the segment, and then before the EXIF.
    for (const place of [500, 0xfffffff0]) {
      outside.writeUInt32LE(place, 8 + 2 + 12 + 8)
      expect(await of(outside)).toEqual(await of(inside))
    }
    expect(await of(Buffer.alloc(40, 1))).toEqual(await of(Buffer.alloc(0)))
  })

  test('values of another kind than their tag go', async () => {
    const long = `PLACE-TEXT${'x'.repeat(2000)}`
    const odd = { 271: Buffer.from('PLACE-MAKER'), 272: long, 306: { short: [1, 2, 3, 4, 5] } }
    const below = { 33434: Buffer.from('PLACE-MAKER'), 42036: long }
    const exif = tiffOf(BIG, { ...odd, 34665: { below } })
    expect((await strippedBytes('jpeg', fullJpeg(exif), 'location')).includes('Exif')).toBe(false)
  })

  test('the new EXIF has its tags in order, and their values at even offsets', async () => {
    const made = await strippedBytes('jpeg', fullJpeg(camera(6, BIG)), 'location')
    const tiff = made.subarray(made.indexOf('Exif') + 6)
    const entriesAt = (at: number) =>
      Array.from({ length: tiff.readUInt16BE(at) }, (_, nth) => at + 2 + 12 * nth)
    const tags = (at: number) => entriesAt(at).map(entry => tiff.readUInt16BE(entry))
    expect(tags(8)).toEqual([271, 272, 274, 306, 315, 33_432, 34_665])
    const photo = tiff.readUInt32BE(entriesAt(8).at(-1)! + 8)
    expect(tags(photo)).toEqual([33_434, 34_855, 37_385, 42_036])
    const texts = [...entriesAt(8), ...entriesAt(photo)].filter(entry => tiff.readUInt16BE(entry + 2) === 2)
    expect(texts.map(entry => tiff.readUInt32BE(entry + 8) % 2)).toEqual([0, 0, 0, 0, 0, 0])
  })
})

describe('of a PNG', () => {
  test('pixels, frames and colours stay', async () => {
    expect(await names(walkPng, await strippedBytes('png', fullPng(), 'all'))).toEqual([
      'IHDR',
      'iCCP',
      'pHYs',
      'acTL',
      'fcTL',
      'IDAT',
      'IDAT',
      'fcTL',
      'fdAT',
      'eXIf',
      'IEND',
    ])
  })

  test('the missing end mark is written', async () => {
    const still = bytes(fullPng().subarray(0, 33), pngChunk('IDAT', idat()), pngChunk('IEND'))
    expect(await strippedBytes('png', still.subarray(0, -12), 'all')).toEqual(still)
  })

  test('all that draws stays', async () => {
    const [start, rest] = [fullPng().subarray(0, 33), bytes(pngChunk('IDAT', idat()), pngChunk('IEND'))]
    const names = ['PLTE', 'tRNS', 'bKGD', 'pHYs', 'sBIT', 'sRGB', 'gAMA', 'cHRM', 'cICP', 'mDCV', 'cLLI']
    const file = bytes(start, ...names.map(name => pngChunk(name, 1, 2, 3)), rest)
    expect(await obstacle('png', file)).toBe('same')
    expect(await strippedBytes('png', bytes(start, pngChunk('hIST', 1), rest), 'all')).toEqual(
      bytes(start, rest),
    )
  })

  test('EXIF with a wrong check sum turns nothing', async () => {
    const file = fullPng(camera(6))
    file[file.indexOf('eXIf') + 20]! ^= 1
    expect(await names(walkPng, await strippedBytes('png', file, 'location'))).not.toContain('eXIf')
  })

  test('what the pixels may need and nobody knows is an obstacle', async () => {
    const file = bytes(fullPng().subarray(0, 33), pngChunk('ABCD', 1), fullPng().subarray(33))
    expect(await obstacle('png', file)).toEqual({ code: 'not_understood', part: 'ABCD', at: 33 })
    const short = bytes(fullPng().subarray(0, 8), pngChunk('IHDR', be16(40)), fullPng().subarray(33))
    expect(await obstacle('png', short)).toEqual({ code: 'not_understood', part: 'IHDR', at: 8 })
    const [apple, text] = [pngChunk('CgBI', 1, 2, 3, 4), pngChunk('tEXt', 'a')]
    const of = (...between: Buffer[]) => bytes(fullPng().subarray(0, 8), ...between, fullPng().subarray(8))
    expect(await obstacle('png', of(apple))).toBe('made')
    expect(await obstacle('png', of(apple, text))).toMatchObject({ part: 'IHDR', at: 24 + text.length })
    expect(await obstacle('png', fullPng().subarray(0, 300))).toMatchObject({ code: 'not_whole' })
  })

  /** The stream of pixels, in one chunk. */
  function idat(): Buffer {
    const file = fullPng()
    const [one, two] = [file.indexOf('IDAT'), file.lastIndexOf('IDAT')]
    const data = (at: number) => file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4))
    return bytes(data(one), data(two))
  }
})

describe('of a GIF', () => {
  test('images, their times and colours stay', async () => {
    const image = (n: number) => ['control extension', `image ${n}`]
    expect(await names(walkGif, await strippedBytes('gif', fullGif(), 'all'))).toEqual([
      'header',
      'repeats',
      'extension',
      ...image(1),
      ...image(2),
      'trailer',
    ])
  })

  test('the missing end mark is written, and junk instead of it is an obstacle', async () => {
    const made = await strippedBytes('gif', fullGif(), 'all')
    expect(await strippedBytes('gif', made.subarray(0, -1), 'all')).toEqual(made)
    const junk = bytes(made.subarray(0, -1), 'junk that is longer than a few bytes', 0x3b)
    expect(await obstacle('gif', junk)).toMatchObject({ code: 'not_whole', part: 'end' })
  })
})

test('a picture of more parts than are read is an obstacle', async () => {
  const comments = Buffer.alloc(8 * 200_001, bytes(0x21, 0xfe, 4, 'note', 0))
  const file = bytes(fullGif().subarray(0, 19), comments, fullGif().subarray(19))
  expect(await obstacle('gif', file)).toMatchObject({ code: 'too_many', part: 'extension' })
})

describe('of a WebP', () => {
  const pixels = Buffer.alloc(20, 7)

  test('frames and colours stay, and what is said of them is true', async () => {
    const made = await strippedBytes('webp', fullWebp(), 'all')
    expect(await names(walkWebp, made)).toEqual([
      'RIFF',
      'VP8X',
      'ICCP',
      'ANIM',
      'ANMF',
      'VP8 ',
      'ANMF',
      'ALPH',
      'VP8 ',
      'EXIF',
      'end',
    ])
    expect(made.readUInt32LE(4)).toBe(made.length - 8)
    expect(made[20]).toBe(0x20 | 0x08 | 0x02)
    const [first, second] = [made.indexOf('ANMF'), made.lastIndexOf('ANMF')]
    expect(made.readUInt32LE(first + 4)).toBe(second - first - 8)
    expect(made.readUInt32LE(second + 4)).toBe(made.indexOf('EXIF') - second - 8)
    expect((await strippedBytes('webp', fullWebp(camera(1)), 'all'))[20]).toBe(0x20 | 0x02)
  })

  test('a frame that does not end with a chunk, or holds another one, is an obstacle', async () => {
    const at = fullWebp().indexOf('ANMF')
    for (const change of [-2, 2, 1e6]) {
      const file = fullWebp()
      file.writeUInt32LE(file.readUInt32LE(at + 4) + change, at + 4)
      expect(await obstacle('webp', file)).toMatchObject({ code: 'not_understood' })
    }
    for (const length of [0, 14, 1e6]) {
      const last = webpOf(webpChunk('ANMF', Buffer.alloc(16), webpChunk('VP8 ', pixels)))
      last.writeUInt32LE(length, 16)
      expect(await obstacle('webp', last)).toMatchObject({ code: 'not_understood', part: 'frame' })
    }
    const inner = webpChunk('ANMF', Buffer.alloc(16), webpChunk('VP8 ', pixels))
    const file = webpOf(webpChunk('ANMF', Buffer.alloc(16), inner))
    expect(await obstacle('webp', file)).toMatchObject({ code: 'not_understood' })
  })

  test('pixels without their header are an obstacle', async () => {
    for (const [name, length] of [
      ['VP8L', 4],
      ['VP8 ', 8],
    ] as const) {
      expect(await obstacle('webp', webpOf(webpChunk(name, pixels.subarray(0, length + 2))))).toBe('same')
      expect(await obstacle('webp', webpOf(webpChunk(name, pixels.subarray(0, length))))).toMatchObject({
        code: 'not_understood',
        part: name,
      })
    }
  })

  test('without padding behind the last chunk stays as it is', async () => {
    const file = webpOf(webpChunk('VP8 ', pixels.subarray(0, 11)))
    const short = bytes('RIFF', le32(file.length - 9), file.subarray(8, -1))
    expect(await obstacle('webp', short)).toBe('same')
  })
})
