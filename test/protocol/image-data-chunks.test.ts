import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ImageData } from '../../src/protocol/picture/image-data.ts'
import { imageData } from '../../src/protocol/picture/image-data.ts'
import { type Bytes, be16, be32, bytes, le16, pngChunk, webpChunk, webpOf } from './bytes.ts'
import { sourceOf } from './sources.ts'

/** What is compared of image data, as text. */
const shown = (data: ImageData | null) => data && { sum: data.sum.toString('hex'), facts: data.facts }
const tiff = bytes('MM', be16(42), be32(8), be16(1), be16(274), be16(3), be32(1), be16(6), be16(0), be32(0))

describe('the image data of a PNG', () => {
  const of = async (...chunks: Bytes) =>
    shown(await imageData('png', sourceOf(bytes('\x89PNG\r\n\x1a\n', ...chunks))))
  const header = pngChunk('IHDR', be32(3), be32(2), 8, 0, 0, 0, 0)
  const stream = deflateSync(Buffer.from([0, 1, 2, 3, 0, 4, 5, 6]))
  const end = pngChunk('IEND')
  const plain = () => of(header, pngChunk('IDAT', stream), end)

  test('is the same without metadata, and however its pixels are split', async () => {
    const split = [pngChunk('IDAT', stream.subarray(0, 5)), pngChunk('IDAT', stream.subarray(5))]
    expect(await of(header, pngChunk('tEXt', 'Title\0x'), ...split, pngChunk('tIME', 0), end)).toEqual(
      await plain(),
    )
    expect((await plain())!.facts).toEqual({ trailer: 0 })
  })

  test('is another with other pixels, another palette, or transparency', async () => {
    const sums = await Promise.all([
      plain(),
      of(header, pngChunk('IDAT', deflateSync(Buffer.from([0, 1, 2, 3, 0, 4, 5, 7]))), end),
      of(header, pngChunk('tRNS', 0, 1), pngChunk('IDAT', stream), end),
      of(header, pngChunk('PLTE', 0, 1, 2), pngChunk('IDAT', stream), end),
    ])
    expect(new Set(sums.map(data => data!.sum)).size).toBe(4)
  })

  test('has what changes the look beside it', async () => {
    const { sum } = (await plain())!
    const of2 = async (name: string, ...data: Bytes) =>
      of(header, pngChunk(name, ...data), pngChunk('IDAT', stream), end)
    expect(await of2('eXIf', tiff)).toEqual({ sum, facts: { orientation: 6, trailer: 0 } })
    expect(await of2('iCCP', 'x')).toMatchObject({ sum, facts: { icc: expect.any(String) } })
    expect((await of2('iCCP', 'x'))!.facts).not.toEqual((await of2('iCCP', 'y'))!.facts)
    expect(await of(header, pngChunk('IDAT', stream), end, 'more')).toEqual({ sum, facts: { trailer: 4 } })
  })

  test('has all frames, however they are split', async () => {
    const control = (n: number, delay = 9) =>
      pngChunk('fcTL', be32(n), be32(3), be32(2), be32(0), be32(0), be16(delay), be16(9), 0, 0)
    const start = [header, pngChunk('acTL', be32(2), be32(0)), control(0), pngChunk('IDAT', stream)]
    const whole = await of(...start, control(1), pngChunk('fdAT', be32(2), stream), end)
    const split = [
      pngChunk('fdAT', be32(2), stream.subarray(0, 5)),
      pngChunk('fdAT', be32(3), stream.subarray(5)),
    ]
    expect(await of(...start, control(1), ...split, end)).toEqual(whole)
    expect(await of(...start, control(1, 8), ...split, end)).not.toEqual(whole)
    expect(await of(...start, end)).not.toEqual(whole)
  })

  test('is not known while something is missing', async () => {
    expect(await of(header, pngChunk('IDAT', stream))).toBeNull()
    expect(await of(header, pngChunk('IDAT', stream).fill(0, 9, 12), end)).toBeNull()
  })
})

describe('the image data of a GIF', () => {
  const of = async (...blocks: Bytes) => shown(await imageData('gif', sourceOf(bytes(...blocks))))
  const screen = bytes(le16(1), le16(1), 0, 0, 0)
  const image = bytes(0x2c, le16(0), le16(0), le16(1), le16(1), 0, 2, 2, 0x44, 0x01, 0)
  const repeat = (times: number) => bytes(0x21, 0xff, 11, 'NETSCAPE2.0', 3, 1, le16(times), 0)

  test('is the same with a comment and with another version', async () => {
    const plain = await of('GIF87a', screen, image, ';')
    expect(plain!.facts).toEqual({ trailer: 0 })
    expect(await of('GIF89a', screen, bytes(0x21, 0xfe, 1, 'a', 0), image, 0, ';')).toEqual(plain)
    expect(await of('GIF89a', screen, bytes(0x21, 0xff, 11, 'XMP DataXMP', 1, 'a', 0), image, ';')).toEqual(
      plain,
    )
    expect(await of('GIF89a', screen, image, ';more')).toEqual({ sum: plain!.sum, facts: { trailer: 4 } })
  })

  test('is another where it repeats, or is shown, otherwise', async () => {
    const control = (delay: number) => bytes(0x21, 0xf9, 4, 0, le16(delay), 0, 0)
    const all = await Promise.all(
      [repeat(0), repeat(1), bytes(), control(1), control(2), image].map(block =>
        of('GIF89a', screen, block, image, ';'),
      ),
    )
    expect(new Set(all.map(data => data!.sum)).size).toBe(6)
  })

  test('is not known without the end', async () => {
    expect(await of('GIF89a', screen, image)).toBeNull()
  })
})

describe('the image data of a WebP', () => {
  const of = async (...chunks: Bytes) => shown(await imageData('webp', sourceOf(webpOf(...chunks))))
  const canvas = (flags: number) => webpChunk('VP8X', flags, 0, 0, 0, 2, 0, 0, 1, 0, 0)
  const pixels = webpChunk('VP8 ', 'some pixels')

  test('is the same with metadata, which are told beside it', async () => {
    const plain = await of(pixels)
    expect(plain!.facts).toEqual({ trailer: 0 })
    const { sum } = plain!
    for (const exif of [tiff, bytes('Exif\0\0', tiff)])
      expect(await of(canvas(8), pixels, webpChunk('EXIF', exif))).toEqual({
        sum,
        facts: { orientation: 6, trailer: 0 },
      })
    expect(await of(canvas(0x20), webpChunk('ICCP', 'x'), pixels)).toMatchObject({
      sum,
      facts: { icc: expect.any(String) },
    })
  })

  test('is another with transparency or more frames, and not known where transparency is denied', async () => {
    const frame = webpChunk('ANMF', Buffer.alloc(16), pixels)
    const all = await Promise.all([
      of(pixels),
      of(canvas(0x10), webpChunk('ALPH', 0, 1), pixels),
      of(canvas(2), webpChunk('ANIM', Buffer.alloc(6)), frame),
      of(canvas(2), webpChunk('ANIM', Buffer.alloc(6)), frame, frame),
    ])
    expect(new Set(all.map(data => data!.sum)).size).toBe(4)
    expect(await of(canvas(0), webpChunk('ALPH', 0, 1), pixels)).toBeNull()
    expect(await of(canvas(0), webpChunk('VP8L', 0x2f, 0, 0, 0, 0x10, 1))).toBeNull()
    expect(await of(canvas(0x10), webpChunk('VP8L', 0x2f, 0, 0, 0, 0x10, 1))).not.toBeNull()
  })
})

test('the pictures to try albumd with have image data', async () => {
  const folder = join(import.meta.dirname, '../../src/cli/try/pictures')
  for (const [path, format] of [
    ['Holiday/Coast/Waves.gif', 'gif'],
    ['Holiday/Coast/Sailing.webp', 'webp'],
  ] as const) {
    const whole = readFileSync(join(folder, path))
    expect(await imageData(format, sourceOf(whole))).not.toBeNull()
    expect(await imageData(format, sourceOf(whole.subarray(0, -9)))).toBeNull()
  }
})
