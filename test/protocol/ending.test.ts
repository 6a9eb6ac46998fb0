import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Format } from '../../src/protocol/formats.ts'
import { readEnding } from '../../src/protocol/picture/picture.ts'
import { png } from '../pictures.ts'
import { appSegment, be16, be32, bytes, frame, jpeg, le16, le32 } from './bytes.ts'
import { endingOf } from './endings.ts'
import { SparseSource, sourceOf } from './sources.ts'

const CLOSED = { kind: 'closed' }
const WHOLE = { kind: 'whole' }
const BLANK = { kind: 'blank' }
const UNCLEAR = { kind: 'unclear' }
const cutFor = (missing: string | RegExp) => ({ kind: 'cut', missing: expect.stringMatching(missing) })

describe('a PNG', () => {
  const { bytes: whole } = png(40, 30)
  const at = whole.indexOf('IDAT') - 4

  test('whose chunks are followed by zeros or by something else is not complete', async () => {
    expect(await endingOf(whole.subarray(0, at), Buffer.alloc(400))).toEqual(cutFor(`byte ${at} `))
    expect(await endingOf(whole.subarray(0, at), be32(4), 'a1b2', whole)).toEqual(cutFor(`byte ${at} `))
  })

  test('says which of its chunks is missing', async () => {
    expect(await endingOf(whole.subarray(0, -20))).toEqual(cutFor('chunk IDAT'))
    expect(await endingOf(whole.subarray(0, -12))).toEqual(cutFor('IEND, is missing'))
    expect(await endingOf(whole.subarray(0, -1), 0)).toEqual(cutFor('IEND, is cut off'))
  })

  test('is not ended by what only looks like its end, within a chunk', async () => {
    const text = bytes(be32(16), 'tEXt', be32(0), 'IEND', be32(0xae426082), be32(0), be32(0))
    expect(await endingOf(whole.subarray(0, at), text.subarray(0, 20))).toEqual(cutFor('chunk tEXt'))
    expect(await endingOf(whole.subarray(0, at), text, whole.subarray(at))).toEqual(CLOSED)
  })
})

describe('a JPEG', () => {
  const scan = (...data: (string | number | Uint8Array)[]) =>
    bytes(0xff, 0xda, be16(8), 1, 1, 0, 0, 63, 0, ...data)
  const pixels = scan('pixels', 0xff, 0x00, 0xff, 0xd0, 'more', 0xff, 0xff)
  const picture = (...segments: Uint8Array[]) => jpeg(...segments, frame(0xc0, 64, 48), pixels)

  test('ends with EOI, not with that of a small picture in one of its segments', async () => {
    const small = bytes(0xff, 0xe1, be16(2 + 6 + picture().length), 'Exif\0\0', picture())
    expect(await endingOf(picture(small))).toEqual(CLOSED)
    const cut = bytes(0xff, 0xd8, small)
    expect(await endingOf(cut)).toEqual(cutFor('its pixels are missing'))
    expect(await endingOf(cut.subarray(0, -1))).toEqual(cutFor('segment at byte 2 '))
  })

  test('goes through several scans, with tables between them', async () => {
    const table = bytes(0xff, 0xc4, be16(20), Buffer.alloc(18, 1))
    const progressive = bytes(0xff, 0xd8, frame(0xc2, 64, 48), table, pixels, table, scan('second'))
    expect(await endingOf(progressive)).toEqual(cutFor('EOI'))
    expect(await endingOf(progressive, 0xff, 0xd9)).toEqual(CLOSED)
  })

  test('may have anything behind its end, but no half of another picture', async () => {
    expect(await endingOf(picture(), 'a film')).toEqual(WHOLE)
    expect(await endingOf(picture(), picture())).toEqual(CLOSED)
    expect(await endingOf(picture(), picture().subarray(0, -2))).toEqual(cutFor('EOI'))
  })

  test.each([
    ['a motion photo', bytes(0xff, 0xe1, be16(22), '<rdf MotionPhoto="1">'.slice(0, 20))],
    ['a motion photo of the first kind', bytes(0xff, 0xe1, be16(22), '<GCamera:MicroVideo>')],
    ['one with a directory of more', bytes(0xff, 0xe1, be16(22), '<Container:Directory')],
    ['one of several pictures', bytes(0xff, 0xe2, be16(10), 'MPF\0', be32(0))],
  ])('that says it is %s may go on behind its end', async (_, segment) => {
    expect(await endingOf(picture(segment))).toEqual(WHOLE)
  })

  test('is read in windows: its end may stand on the border of two', async () => {
    for (let length = 65_000; length < 66_000; length += 7) {
      const long = jpeg(appSegment(0, 100), frame(0xc0, 64, 48), scan(Buffer.alloc(length, 7)))
      expect(await endingOf(long)).toEqual(CLOSED)
      expect(await endingOf(long.subarray(0, -1))).toEqual(cutFor('EOI'))
    }
  })

  test('with a segment of an impossible length is not complete', async () => {
    expect(await endingOf(0xff, 0xd8, 0xff, 0xe0, be16(1), Buffer.alloc(50, 1), 0xff, 0xd9)).toEqual(
      cutFor('byte 4 '),
    )
  })
})

describe('a GIF', () => {
  const head = bytes('GIF89a', le16(4), le16(4), 0x80, 0, 0, Buffer.alloc(6, 9))
  const image = bytes(0x2c, Buffer.alloc(8), 0x81, Buffer.alloc(12, 9), 2, 5, 'pixel', 1, ';', 0)
  const comment = bytes(0x21, 0xfe, 3, 'a;b', 0)

  test('ends with its trailer, not with one among its data', async () => {
    expect(await endingOf(head, comment, image, 0x3b)).toEqual(CLOSED)
    expect(await endingOf(head, comment, image)).toEqual(cutFor('trailer'))
    expect(await endingOf(head, comment, image.subarray(0, -1))).toEqual(cutFor('block at byte'))
    expect(await endingOf(head, comment.subarray(0, 5))).toEqual(cutFor('block at byte 19 '))
  })

  test('may have zeros between its blocks, but nothing else', async () => {
    expect(await endingOf(head, image, 0, 0, image, 0x3b)).toEqual(CLOSED)
    expect(await endingOf(head, image, 'x', image, 0x3b)).toEqual(cutFor('does not belong there'))
  })
})

describe('a WebP', () => {
  const chunk = (name: string, data: Uint8Array) => bytes(name, le32(data.length), data)
  const webp = (...chunks: Uint8Array[]) => {
    const body = bytes('WEBP', ...chunks)
    return bytes('RIFF', le32(body.length), body)
  }
  const pixels = chunk('VP8L', bytes(0x2f, le32(0x123456), Buffer.alloc(9001, 5)))

  test('is as long as its header says', async () => {
    const whole = webp(pixels, chunk('EXIF', Buffer.alloc(20, 1)))
    expect(await endingOf(whole)).toEqual(CLOSED)
    expect(await endingOf(whole.subarray(0, -1))).toEqual(cutFor(`ends at byte ${whole.length}`))
  })

  test('is not complete while its header has no length, or one that its chunks do not fill', async () => {
    const whole = webp(pixels)
    whole.writeUInt32LE(4, 4)
    expect(await endingOf(whole)).toEqual(cutFor('length is not written'))
    whole.writeUInt32LE(5000, 4)
    expect(await endingOf(whole)).toEqual(cutFor('VP8L goes on'))
  })

  test('is not complete where its room is there and its pixels are not', async () => {
    const whole = webp(pixels)
    expect(await endingOf(Buffer.from(whole).fill(0, 4000))).toEqual(cutFor('only zeros'))
    // So few may be chance: then it is not finished early.
    expect(await endingOf(Buffer.from(whole).fill(0, whole.length - 100))).toEqual(WHOLE)
    expect(await endingOf(webp(pixels, chunk('EXIF', Buffer.alloc(5000))))).toEqual(BLANK)
    const room = webp(chunk('VP8X', Buffer.alloc(10, 1)), pixels, pixels)
    expect(await endingOf(room.fill(0, 30))).toEqual(cutFor('byte 30 '))
  })
})

describe('a picture that comes in parts, of which one in the middle is missing', () => {
  const noise = Buffer.from(Array.from({ length: 30_000 }, (_, at) => 1 + ((at * 7) % 200)))
  const chunk = (name: string, data: Uint8Array) => bytes(be32(data.length), name, data, be32(1))
  const riff = (data: Uint8Array) =>
    bytes('RIFF', le32(data.length + 12), 'WEBP', 'VP8L', le32(data.length), data)
  const header = bytes(le32(40), le32(100), le32(100), le16(1), le16(24), le32(0), Buffer.alloc(20, 1))

  test.each([
    [
      'a PNG',
      BLANK,
      bytes(
        png(4, 3).bytes.subarray(0, 33),
        chunk('IDAT', noise),
        chunk('IEND', bytes()).subarray(0, 8),
        be32(0xae426082),
      ),
    ],
    ['a JPEG', BLANK, bytes(jpeg(frame(0xc0, 64, 48), bytes(0xff, 0xda, be16(8), 1, 1, 0, 0, 63, 0, noise)))],
    ['a WebP', BLANK, riff(bytes(0x2f, le32(0x123456), noise.subarray(1)))],
    [
      'a BMP, where it may be a dark part',
      WHOLE,
      bytes('BM', le32(30_054), le32(0), le32(54), header, noise),
    ],
  ])('%s', async (_, hole, whole) => {
    expect(await endingOf(whole)).toEqual(CLOSED)
    const holed = Buffer.from(whole)
    const end = 12_288
    expect(await endingOf(holed.fill(0, end - 4096, end))).toEqual(hole)
  })
})

describe('a BMP', () => {
  const bmp = (declared: number, header: Uint8Array, pixels: Uint8Array) =>
    bytes('BM', le32(declared), le32(0), le32(14 + header.length), header, pixels)
  const info = (compression: number) =>
    bytes(le32(40), le32(5), le32(2 ** 32 - 4), le16(1), le16(24), le32(compression), Buffer.alloc(20))
  // Five pixels of three bytes are padded to sixteen.
  const pixels = Buffer.alloc(64, 7)

  test.each([
    ['that it declares', 118],
    ['of its pixels, where it declares none', 0],
    ['of its pixels, where it declares less', 60],
  ])('has the length %s', async (_, declared) => {
    expect(await endingOf(bmp(declared, info(0), pixels))).toEqual(CLOSED)
    expect(await endingOf(bmp(declared, info(0), pixels), 0, 0)).toEqual(WHOLE)
    expect(await endingOf(bmp(declared, info(0), pixels.subarray(1)))).toEqual(cutFor('byte 118'))
  })

  test('with the header of OS/2 is measured too', async () => {
    const header = bytes(le32(12), le16(5), le16(4), le16(1), le16(24))
    expect(await endingOf(bmp(0, header, pixels))).toEqual(CLOSED)
    expect(await endingOf(bmp(0, header, pixels.subarray(1)))).toEqual(cutFor('byte 90'))
  })

  test('that is compressed and declares no length does not tell', async () => {
    expect(await endingOf(bmp(0, info(1), pixels))).toEqual(UNCLEAR)
    expect(await endingOf(bmp(200, info(1), pixels))).toEqual(cutFor('byte 200'))
  })

  test('that ends in the dark does not end early, and may be room that is reserved', async () => {
    expect(await endingOf(bmp(118, info(0), Buffer.alloc(64)))).toEqual(WHOLE)
    expect(await endingOf(bmp(54 + 4096, info(0), Buffer.alloc(4096)))).toEqual(BLANK)
    expect(await endingOf(bmp(54 + 4097, info(0), Buffer.alloc(4096)))).toEqual(cutFor('byte 4151'))
  })
})

describe('an ICO', () => {
  const entry = (length: number, offset: number) =>
    bytes(16, 16, 0, 0, le16(1), le16(32), le32(length), le32(offset))
  const ico = (...entries: Uint8Array[]) => bytes(le16(0), le16(1), le16(entries.length), ...entries)

  test('holds what its directory names, in any order', async () => {
    const icon = bytes(ico(entry(30, 58), entry(20, 38)), Buffer.alloc(50, 3))
    expect(await endingOf(icon)).toEqual(CLOSED)
    expect(await endingOf(icon, 'more')).toEqual(WHOLE)
    expect(await endingOf(icon.subarray(0, -1))).toEqual(cutFor('byte 88'))
    expect(await endingOf(icon.subarray(0, 30))).toEqual(cutFor('directory is cut off'))
  })

  test('has a directory that says where everything is', async () => {
    expect(await endingOf(ico(entry(20, 38), entry(0, 0)), Buffer.alloc(20, 3))).toEqual(cutFor('image 2'))
  })

  test('that ends in zeros, as masks do, does not end early', async () => {
    expect(await endingOf(ico(entry(40, 22)), Buffer.alloc(20, 3), Buffer.alloc(20))).toEqual(WHOLE)
  })
})

describe('bytes that are no picture', () => {
  test.each([
    ['zeros', Buffer.alloc(5000)],
    ['the first bytes of a PNG', bytes('\x89PN')],
    ['the first bytes of an SVG with a name space', bytes('<größe-1.a_b:sv')],
    ['the first bytes of a JPEG, in room that was reserved', bytes(0xff, 0xd8, Buffer.alloc(3000))],
    [
      'the first lines of an SVG',
      bytes('<?xml version="1.0"?>\n<!-- drawn by hand, with much love and a pen'),
    ],
  ])('are yet to become one: %s', async (_, file) => {
    expect(await endingOf(file)).toMatchObject({ kind: 'cut' })
  })

  test.each([
    ['prose', bytes('It was a dark and stormy night.')],
    ['a word', bytes('no')],
    ['a page of HTML', bytes('<!DOCTYPE html><html><body>404</body></html>')],
    ['a film', bytes(be32(24), 'ftypmp42', Buffer.alloc(100, 1))],
    ['encrypted bytes that begin like a tag', bytes('<', Buffer.alloc(100, 0x1d))],
  ])('do not tell: %s', async (_, file) => {
    expect(await endingOf(file)).toEqual(UNCLEAR)
  })
})

describe('whatever the bytes', () => {
  const formats: (Format | null)[] = ['png', 'jpeg', 'gif', 'webp', 'bmp', 'tiff', 'ico', 'svg', null]
  const starts = [
    bytes('\x89PNG\r\n\x1a\n'),
    bytes(0xff, 0xd8, 0xff, 0xda, be16(2)),
    bytes('GIF89a', le16(1), le16(1), 0, 0, 0),
    bytes('RIFF', le32(200), 'WEBP'),
    bytes('BM', le32(100), le32(0), le32(54), le32(40)),
    bytes('II*\0', le32(8), le16(3)),
    bytes('MM\0+', be16(8), be16(0), be32(0), be32(16), be32(0)),
    bytes(0, 0, 1, 0, 2, 0),
    bytes('<svg>'),
    bytes('<!DOCTYPE ['),
  ]

  test('there is an answer, and nothing is thrown', async () => {
    const files = fc
      .tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }))
      .map(([start, rest]) => bytes(start, rest))
    await fc.assert(
      fc.asyncProperty(files, fc.constantFrom(...formats), async (file, format) => {
        expect(['closed', 'whole', 'cut', 'unclear']).toContain(
          (await readEnding(format, sourceOf(file))).kind,
        )
      }),
      { numRuns: 3000 },
    )
  })

  test('no read is longer than 64 KiB, and what is read does not exceed the file by much', async () => {
    for (const start of starts)
      for (const format of formats) {
        const source = new SparseSource(2e6, [{ at: 0, bytes: start }])
        await readEnding(format, source)
        expect(source.longestRead).toBeLessThanOrEqual(64 * 1024)
        expect(source.bytesRead).toBeLessThanOrEqual(2.2e6)
      }
  })

  test('a source that can’t be read rejects with its own error', async () => {
    const failure = Object.assign(new Error('i/o error, read'), { code: 'EIO' })
    const dead = { size: 100, read: () => Promise.reject(failure) }
    for (const format of formats) await expect(readEnding(format, dead)).rejects.toBe(failure)
  })

  test('a source that turns out shorter than its size is cut', async () => {
    const { bytes: whole } = png(40, 30)
    const shrunk = { size: whole.length, read: async (at: number) => whole.subarray(at, 60) }
    expect(await readEnding('png', shrunk)).toMatchObject({ kind: 'cut' })
  })
})
