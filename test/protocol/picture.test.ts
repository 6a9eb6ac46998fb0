import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPicture } from '../../src/protocol/picture/picture.ts'
import { be16, bytes, jpeg, le16, le32, png } from './bytes.ts'
import { SparseSource, sourceOf } from './sources.ts'

function read(...parts: Parameters<typeof bytes>) {
  return readPicture(sourceOf(bytes(...parts)))
}

describe('the size of a PNG', () => {
  test('is that of its header, with or without animation', async () => {
    const still = { format: 'png', mime: 'image/png', width: 640, height: 480 }
    expect(await read(png(640, 480))).toEqual(still)
    const header = png(640, 480).subarray(0, 33)
    expect(await read(header, Buffer.from([0, 0, 0, 8]), 'acTL', Buffer.alloc(12), png(1, 1))).toEqual(still)
  })

  test('is unknown where it states zero or more than 31 bits', async () => {
    const unknown = { format: 'png', mime: 'image/png', width: null, height: null }
    expect(await read(png(0, 480))).toEqual(unknown)
    expect(await read(png(640, 2 ** 31))).toEqual(unknown)
  })
})

describe('a header that is cut off', () => {
  test.each([
    ['PNG', png(640, 480), 24],
    ['GIF', bytes('GIF89a', le16(640), le16(480)), 10],
    ['BMP', bytes('BM', Buffer.alloc(12), le32(40), le32(640), le32(480), Buffer.alloc(28)), 54],
    ['WebP', bytes('RIFF', le32(22), 'WEBPVP8X', le32(10), 0, 0, 0, 0, le16(639), 0, le16(479), 0), 30],
    ['ICO', bytes(le16(0), le16(1), le16(1), 48, 48, Buffer.alloc(14)), 22],
  ])('of a %s states no size, whatever lies behind it in memory', async (_name, whole, length) => {
    for (let cut = 0; cut < length; cut++) {
      const source = { size: cut, read: async () => whole.subarray(0, cut) }
      expect((await readPicture(source))?.width ?? null).toBeNull()
    }
    const enough = { size: whole.length, read: async () => whole }
    expect(await readPicture(enough)).toMatchObject({ width: expect.any(Number) })
  })
})

describe('the size of a GIF', () => {
  test.each(['GIF87a', 'GIF89a'])('is that of the screen of a %s', async signature => {
    const gif = { format: 'gif', mime: 'image/gif', width: 640, height: 480 }
    expect(await read(signature, le16(640), le16(480), Buffer.alloc(20))).toEqual(gif)
  })

  test('is unknown where its screen has none', async () => {
    expect(await read('GIF89a', Buffer.alloc(20))).toMatchObject({ format: 'gif', width: null, height: null })
  })
})

describe('the size of a WebP', () => {
  const webp = (chunk: string, data: Uint8Array) =>
    read('RIFF', le32(12 + data.length), 'WEBP', chunk, le32(data.length), data, Buffer.alloc(20))
  const size = { format: 'webp', mime: 'image/webp', width: 640, height: 480 }

  test('is that of its frame, where it is lossy; upscaling does not count', async () => {
    const scaled = 0x4000
    const data = bytes(0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, le16(640 | scaled), le16(480 | scaled))
    expect(await webp('VP8 ', data)).toEqual(size)
  })

  test('is that of its header of 14 bits each, where it is lossless', async () => {
    expect(await webp('VP8L', bytes(0x2f, le32((640 - 1) | ((480 - 1) << 14))))).toEqual(size)
  })

  test('is that of its canvas, where it is extended', async () => {
    const animated = 0x02
    expect(await webp('VP8X', bytes(animated, 0, 0, 0, le16(639), 0, le16(479), 0))).toEqual(size)
    const wide = { ...size, width: 0x010000 + 1 }
    expect(await webp('VP8X', bytes(animated, 0, 0, 0, le16(0), 1, le16(479), 0))).toEqual(wide)
  })

  test('is unknown where its first chunk is of another kind, whatever picture that holds', async () => {
    expect(await webp('ICCP', bytes('<svg width="5" height="5">'))).toEqual({
      ...size,
      width: null,
      height: null,
    })
  })
})

describe('the size of a BMP', () => {
  const bmp = (...header: Uint8Array[]) => read('BM', Buffer.alloc(12), ...header, Buffer.alloc(120))
  const size = { format: 'bmp', mime: 'image/bmp', width: 640, height: 480 }

  test.each([16, 40, 52, 56, 64, 108, 124])('is read from a header of %i bytes', async length => {
    expect(await bmp(le32(length), le32(640), le32(480))).toEqual(size)
  })

  test('has 16 bits each in the header of OS/2', async () => {
    expect(await bmp(le32(12), le16(640), le16(480), le16(1), le16(24))).toEqual(size)
  })

  test('has a height without a sign, for rows that are stored from the top', async () => {
    expect(await bmp(le32(40), le32(640), le32(2 ** 32 - 480))).toEqual(size)
  })

  test('is unknown where it is zero, negative in width, or cut off', async () => {
    const unknown = { ...size, width: null, height: null }
    expect(await bmp(le32(40), le32(0), le32(480))).toEqual(unknown)
    expect(await bmp(le32(40), le32(2 ** 32 - 640), le32(480))).toEqual(unknown)
    expect(await bmp(le32(40), le32(640), le32(2 ** 31))).toEqual(unknown)
    expect(await read('BM', Buffer.alloc(12), le32(40), le32(640))).toEqual(unknown)
  })
})

describe('the size of an ICO', () => {
  const ICON = 1
  const CURSOR = 2
  const ico = (kind: number, ...sizes: [number, number][]) =>
    read(
      le16(0),
      le16(kind),
      le16(sizes.length),
      ...sizes.map(([width, height]) => bytes(width, height, Buffer.alloc(6), le32(40), le32(70))),
      Buffer.alloc(64),
    )

  test('is that of its largest entry, wherever that stands', async () => {
    const icon = { format: 'ico', mime: 'image/x-icon', width: 48, height: 32 }
    expect(await ico(ICON, [16, 16], [48, 32], [32, 32])).toEqual(icon)
  })

  test('is 256 where an entry says 0', async () => {
    expect(await ico(ICON, [16, 16], [0, 0])).toMatchObject({ format: 'ico', width: 256, height: 256 })
  })

  test('is asked of icons only: a cursor is none, nor is an icon without entries', async () => {
    expect(await ico(CURSOR, [32, 32])).toBeNull()
    expect(await ico(ICON)).toBeNull()
  })
})

describe('what only looks like a picture is none', () => {
  const box = (brand: string) =>
    bytes(0, 0, 0, 24, 'ftyp', brand, 0, 0, 0, 0, brand, 'mif1', Buffer.alloc(40))

  test.each([
    ['nothing', bytes()],
    ['one byte', bytes(0xff)],
    ['zeros', Buffer.alloc(100_000)],
    ['prose', bytes('Once upon a time there was a picture.\n'.repeat(3000))],
    ['prose that begins with BM', bytes('BMW builds cars. '.repeat(20))],
    ['prose that begins with GIF', bytes('GIFTS for everyone. '.repeat(20))],
    ['prose that begins with P5', bytes('P5 640 480 255 ', Buffer.alloc(100))],
    ['prose that begins with II', bytes('II. The second chapter. '.repeat(20))],
    ['HEIC', box('heic')],
    ['AVIF', box('avif')],
    ['JPEG-LS', bytes(0xff, 0xd8, 0xff, 0xf7, be16(11), Buffer.alloc(40))],
    ['a GIF behind a byte order mark', bytes(0xef, 0xbb, 0xbf, 'GIF89a', le16(1), le16(1), Buffer.alloc(20))],
    ['a PNG behind an ID3 tag', bytes('ID3', 4, 0, 0, 0, 0, 0, 0, png(1, 1))],
    ['a PNG without its first chunk', bytes('\x89PNG\r\n\x1a\n', Buffer.alloc(40))],
    ['a WAVE sound', bytes('RIFF', le32(40), 'WAVEfmt ', Buffer.alloc(40))],
    ['a gzip archive', bytes(0x1f, 0x8b, 8, Buffer.alloc(40))],
    ['a zip archive', bytes('PK\x03\x04', Buffer.alloc(60))],
    ['a PDF', bytes('%PDF-1.7\n', Buffer.alloc(40))],
    ['a Targa picture', bytes(0, 0, 2, Buffer.alloc(9), le16(64), le16(48), 24, 0, Buffer.alloc(40))],
    ['a Photoshop picture', bytes('8BPS', 0, 1, Buffer.alloc(40))],
  ])('%s', async (_name, file) => {
    expect(await readPicture(sourceOf(file))).toBeNull()
  })
})

describe('whatever the bytes', () => {
  const starts = [
    bytes(),
    bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'),
    bytes(0xff, 0xd8, 0xff),
    bytes('GIF89a'),
    bytes('RIFF\x40\0\0\0WEBPVP8'),
    bytes('BM', Buffer.alloc(12), le32(40)),
    bytes('II*\0'),
    bytes('MM\0*'),
    bytes('II+\0\x08\0\0\0'),
    bytes(0, 0, 1, 0, 1, 0),
    bytes('<svg '),
    bytes('<!DOCTYPE svg ['),
    bytes('<\0s\0v\0g\0'),
  ]

  test('the answer is a picture with two lengths or none, or no picture; nothing is thrown', async () => {
    const files = fc
      .tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }))
      .map(([start, rest]) => bytes(start, rest))
    await fc.assert(
      fc.asyncProperty(files, async file => {
        const picture = await readPicture(sourceOf(file))
        if (picture === null) return
        const lengths = [picture.width, picture.height].map(length => length !== null && length >= 1)
        expect(lengths[0]).toBe(lengths[1])
      }),
      { numRuns: 3000 },
    )
  })

  test('no read is longer than 64 KiB, and a picture of 5 GB costs no more than a small one', async () => {
    for (const start of starts) {
      const source = new SparseSource(5e9, [{ at: 0, bytes: start }])
      await readPicture(source)
      expect(source.longestRead).toBeLessThanOrEqual(64 * 1024)
      expect(source.bytesRead).toBeLessThanOrEqual(5e6)
    }
  })
})

describe('a source', () => {
  const failure = Object.assign(new Error('i/o error, read'), { code: 'EIO' })

  test('that can’t be read rejects the reading with its own error, at the first read and at later ones', async () => {
    const dead = { size: 100, read: () => Promise.reject(failure) }
    await expect(readPicture(dead)).rejects.toBe(failure)
    const head = bytes(0xff, 0xd8, 0xff, 0xe1, be16(65_000))
    const dying = {
      size: 200_000,
      read: async (offset: number) => {
        if (offset > 0) throw failure
        return head
      },
    }
    await expect(readPicture(dying)).rejects.toBe(failure)
  })

  test('that turns out shorter than its size leaves width and height unknown', async () => {
    const file = jpeg().subarray(0, 2)
    const shrunk = {
      size: 200_000,
      read: async (at: number) => bytes(file, 0xff, 0xe0, be16(9)).subarray(at),
    }
    expect(await readPicture(shrunk)).toMatchObject({ format: 'jpeg', width: null, height: null })
  })
})
