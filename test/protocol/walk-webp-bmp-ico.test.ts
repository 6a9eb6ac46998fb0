import { describe, expect, test } from 'vitest'
import { walkBmp } from '../../src/protocol/picture/bmp.ts'
import { walkIco } from '../../src/protocol/picture/ico.ts'
import { walkWebp } from '../../src/protocol/picture/webp.ts'
import { png } from '../pictures.ts'
import { bytes, le16, le32, webpChunk, webpOf } from './bytes.ts'
import { partsOf, verdictOf } from './verdicts.ts'

const CLOSED = { kind: 'closed', early: true }
const LATE = { kind: 'closed', early: false }
const missing = (code: string) => ({ kind: 'missing', code })
const odd = (code: string) => ({ kind: 'odd', code })
const noise = Buffer.from(Array.from({ length: 30_000 }, (_, at) => 1 + ((at * 7) % 200)))
const HOLE = [8192, 12_288] as const

describe('a WebP', () => {
  const pixels = webpChunk('VP8L', bytes(0x2f, noise.subarray(0, 9005)))

  test('is as long as its header says', async () => {
    const whole = webpOf(pixels, webpChunk('EXIF', Buffer.alloc(20, 1)))
    expect(await verdictOf(walkWebp, whole)).toEqual(CLOSED)
    expect(await verdictOf(walkWebp, whole, 'more')).toEqual(LATE)
    expect(await verdictOf(walkWebp, whole.subarray(0, -1))).toMatchObject(missing('cut'))
    const longer = Buffer.from(whole)
    longer.writeUInt32LE(whole.length - 7, 4)
    expect(await verdictOf(walkWebp, longer)).toMatchObject(missing('cut'))
  })

  test('may lack the padding of its last chunk', async () => {
    const whole = webpOf(webpChunk('VP8 ', noise.subarray(0, 51)))
    const unpadded = Buffer.from(whole.subarray(0, -1))
    unpadded.writeUInt32LE(whole.length - 9, 4)
    expect(await verdictOf(walkWebp, unpadded)).toEqual(CLOSED)
  })

  test('is missing while its header has no length, or one that its chunks do not fill', async () => {
    const whole = webpOf(pixels)
    whole.writeUInt32LE(4, 4)
    expect(await verdictOf(walkWebp, whole)).toMatchObject(missing('unwritten'))
    whole.writeUInt32LE(5000, 4)
    expect(await verdictOf(walkWebp, whole)).toMatchObject({ ...missing('cut'), part: 'chunk VP8L' })
    expect(await verdictOf(walkWebp, webpOf(webpChunk('EXIF', noise)))).toMatchObject(missing('no_pixels'))
  })

  test('is missing where its room is there and its pixels are not', async () => {
    const whole = webpOf(pixels)
    expect(await verdictOf(walkWebp, Buffer.from(whole).fill(0, 4000))).toMatchObject(missing('unwritten'))
    expect(await verdictOf(walkWebp, Buffer.from(whole).fill(0, 4096, 8192))).toEqual({
      ...missing('unwritten'),
      ...{ part: 'chunk VP8L', at: 4096 },
    })
    expect(await verdictOf(walkWebp, Buffer.from(whole).fill(0, 1000, 5096))).toMatchObject(
      missing('unwritten'),
    )
    expect(await verdictOf(walkWebp, Buffer.from(whole).fill(0, 1000, 5095))).toEqual(CLOSED)
    // So few may be chance: then it is not finished early.
    expect(await verdictOf(walkWebp, Buffer.from(whole).fill(0, whole.length - 100))).toEqual(LATE)
    expect(await verdictOf(walkWebp, webpOf(pixels, webpChunk('EXIF', Buffer.alloc(5000))))).toMatchObject(
      odd('zeros'),
    )
    const room = webpOf(webpChunk('VP8X', Buffer.alloc(10, 1)), pixels, pixels)
    expect(await verdictOf(walkWebp, room.fill(0, 30))).toMatchObject(missing('unwritten'))
  })

  test('may be transparent in long stretches, where its transparency is not compressed', async () => {
    const alpha = (packed: number) =>
      webpOf(webpChunk('ALPH', bytes(packed, Buffer.alloc(20_000))), webpChunk('VP8 ', noise))
    expect(await verdictOf(walkWebp, alpha(0))).toMatchObject(odd('zeros'))
    expect(await verdictOf(walkWebp, alpha(1))).toMatchObject(missing('unwritten'))
  })

  test('that is animated is walked through frame by frame', async () => {
    const frame = (data: Buffer) => webpChunk('ANMF', bytes(Buffer.alloc(16, 1), data))
    const animated = webpOf(
      webpChunk('VP8X', Buffer.alloc(10, 2)),
      webpChunk('ANIM', Buffer.alloc(6, 1)),
      frame(pixels),
    )
    expect(await verdictOf(walkWebp, animated)).toEqual(CLOSED)
    expect((await partsOf(walkWebp, animated)).map(({ name }) => name)).toEqual([
      'RIFF',
      'VP8X',
      'ANIM',
      'ANMF',
      'VP8L',
      'end',
    ])
    expect(await verdictOf(walkWebp, animated.fill(0, 4096, 8192))).toMatchObject(missing('unwritten'))
  })
})

const info = (width: number, height: number, bits: number, compression = 0, colours = 0) =>
  bytes(
    ...[le32(40), le32(width), le32(height), le16(1), le16(bits), le32(compression)],
    ...[le32(0), le32(0), le32(0), le32(colours), le32(0)],
  )

describe('a BMP', () => {
  const bmp = (declared: number, header: Uint8Array, pixels: Uint8Array) =>
    bytes('BM', le32(declared), le32(0), le32(14 + header.length), header, pixels)
  // Five pixels of three bytes are padded to sixteen; the negative height says that rows are stored from the top.
  const small = info(5, 2 ** 32 - 4, 24)
  const pixels = Buffer.alloc(64, 7)
  const large = bmp(30_054, info(100, 100, 24), noise)

  test.each([
    ['that it declares', 118],
    ['of its pixels, where it declares none', 0],
    ['of its pixels, where it declares less', 60],
  ])('has the length %s', async (_, declared) => {
    expect(await verdictOf(walkBmp, bmp(declared, small, pixels))).toEqual(CLOSED)
    expect(await verdictOf(walkBmp, bmp(declared, small, pixels), 0, 0)).toEqual(LATE)
    expect(await verdictOf(walkBmp, bmp(declared, small, pixels.subarray(1)))).toMatchObject(missing('cut'))
  })

  test('that declares too much is odd, for its pixels are there', async () => {
    expect(await verdictOf(walkBmp, bmp(1118, small, pixels))).toMatchObject(odd('length'))
    expect(await verdictOf(walkBmp, bmp(1118, small, pixels.subarray(1)))).toMatchObject(missing('cut'))
  })

  test('with the header of OS/2 is measured too', async () => {
    const header = bytes(le32(12), le16(5), le16(4), le16(1), le16(24))
    expect(await verdictOf(walkBmp, bmp(0, header, pixels))).toEqual(CLOSED)
    expect(await verdictOf(walkBmp, bmp(0, header, pixels.subarray(1)))).toMatchObject(missing('cut'))
    const [{ states } = {}] = await partsOf(walkBmp, bmp(0, header, pixels))
    expect(states).toEqual({ width: 5, height: 4 })
  })

  test('may be dark for a stretch, or all black', async () => {
    expect(await verdictOf(walkBmp, large)).toEqual(CLOSED)
    expect(await verdictOf(walkBmp, Buffer.from(large).fill(0, ...HOLE))).toMatchObject(odd('zeros'))
    expect(await verdictOf(walkBmp, Buffer.from(large).fill(0, 24_000))).toMatchObject(odd('zeros'))
    expect(await verdictOf(walkBmp, Buffer.from(large).fill(0, 54))).toEqual(LATE)
    expect(await verdictOf(walkBmp, Buffer.from(large).fill(0, 30_000))).toEqual(LATE)
  })

  test('whose header states no pixels has none', async () => {
    expect(await verdictOf(walkBmp, bmp(0, info(0, 4, 24), pixels))).toMatchObject(missing('no_pixels'))
    expect(await verdictOf(walkBmp, 'BM', Buffer.alloc(12), le32(40), le32(640))).toMatchObject(
      missing('cut'),
    )
  })
})

describe('a BMP in runs', () => {
  const bmp = (compression: number, data: Uint8Array, declared = 0) => {
    const start = bytes(
      'BM',
      le32(declared),
      le32(0),
      le32(54 + 8),
      info(6, 2, 8, compression, 2),
      le32(1),
      le32(2),
    )
    return bytes(start, data)
  }
  // Two pixels, three single ones, padded; the end of the row; a step to another pixel; five pixels.
  const eights = bytes(2, 7, 0, 3, 1, 2, 3, 0, 0, 0, 0, 2, 1, 0, 5, 9)

  test('ends with its end mark, whatever length is declared', async () => {
    for (const declared of [0, 80, 62 + eights.length + 2])
      expect(await verdictOf(walkBmp, bmp(1, bytes(eights, 0, 1), declared))).toMatchObject({
        kind: 'closed',
      })
    expect(await verdictOf(walkBmp, bmp(1, bytes(eights, 0, 1), 9000))).toMatchObject(odd('length'))
    // Five single pixels of four bits fill three bytes, padded to four.
    const fours = bytes(0, 5, 0x12, 0x34, 0x50, 0, 0, 0, 6, 0x11, 0, 1)
    expect(await verdictOf(walkBmp, bmp(2, fours))).toEqual(CLOSED)
  })

  test('without an end mark is cut where no length is true', async () => {
    for (let length = 0; length <= eights.length; length++)
      expect(await verdictOf(walkBmp, bmp(1, eights.subarray(0, length), 300))).toMatchObject(missing('cut'))
  })

  test('has no page of zeros', async () => {
    const long = bytes(...Array.from({ length: 4000 }, () => eights), 0, 1)
    expect(await verdictOf(walkBmp, bmp(1, long))).toMatchObject({ kind: 'closed' })
    expect(await verdictOf(walkBmp, bmp(1, long).fill(0, ...HOLE))).toMatchObject(missing('unwritten'))
    expect(await verdictOf(walkBmp, bmp(1, Buffer.alloc(40), 102))).toMatchObject(missing('unwritten'))
  })
})

describe('an ICO', () => {
  const entry = (length: number, offset: number) =>
    bytes(16, 16, 0, 0, le16(1), le16(32), le32(length), le32(offset))
  const ico = (...entries: Uint8Array[]) => bytes(le16(0), le16(1), le16(entries.length), ...entries)
  const icon = (image: Uint8Array, length = image.length) => bytes(ico(entry(length, 22)), image)

  test('holds what its directory names, in any order', async () => {
    const two = bytes(ico(entry(30, 58), entry(20, 38)), Buffer.alloc(50, 3))
    expect(await verdictOf(walkIco, two)).toEqual(CLOSED)
    expect(await verdictOf(walkIco, two, 'more')).toEqual(LATE)
    expect(await verdictOf(walkIco, two.subarray(0, -1))).toMatchObject({
      ...missing('cut'),
      part: 'image 1',
    })
    expect(await verdictOf(walkIco, two.subarray(0, 30))).toMatchObject({
      ...missing('cut'),
      part: 'directory',
    })
  })

  test('has a directory that says where everything is, and images that begin', async () => {
    expect(await verdictOf(walkIco, ico(entry(20, 38), entry(0, 0)), Buffer.alloc(20, 3))).toMatchObject({
      ...missing('unwritten'),
      at: 30,
    })
    expect(await verdictOf(walkIco, icon(Buffer.alloc(400)))).toMatchObject(missing('unwritten'))
  })

  test('that ends in zeros, as masks do, does not end early', async () => {
    expect(await verdictOf(walkIco, icon(bytes(Buffer.alloc(20, 3), Buffer.alloc(20))))).toEqual(LATE)
  })

  test('judges its PNGs as PNGs', async () => {
    const { bytes: inside } = png(40, 30)
    expect(await verdictOf(walkIco, icon(inside))).toEqual(CLOSED)
    expect(await verdictOf(walkIco, icon(inside, inside.length + 40))).toMatchObject(odd('length'))
    expect(await verdictOf(walkIco, icon(inside.subarray(0, -12)))).toMatchObject(odd('no_end'))
    expect(await verdictOf(walkIco, icon(Buffer.from(inside).fill(9, 100, 110)))).toMatchObject({
      ...missing('checksum'),
      part: 'image 1, chunk IDAT',
    })
  })

  test('computes how long its BMPs are, with the mask, which transparent ones may leave out', async () => {
    // Sixteen rows of four bytes each are the mask.
    const [opaque, clear] = [
      bytes(info(16, 32, 24), Buffer.alloc(768 + 64, 5)),
      bytes(info(16, 32, 32), Buffer.alloc(1024, 5)),
    ]
    expect(await verdictOf(walkIco, icon(opaque))).toEqual(CLOSED)
    expect(await verdictOf(walkIco, icon(opaque, opaque.length + 40))).toMatchObject(odd('length'))
    expect(await verdictOf(walkIco, icon(opaque.subarray(0, -1)))).toMatchObject(missing('cut'))
    expect(await verdictOf(walkIco, icon(clear))).toEqual(CLOSED)
    expect(await verdictOf(walkIco, icon(clear, clear.length + 64))).toMatchObject(missing('cut'))
    const large = bytes(info(256, 512, 32), Buffer.alloc(256 * 1024, 5), Buffer.alloc(8192))
    expect(await verdictOf(walkIco, icon(large))).toEqual(LATE)
    expect(await verdictOf(walkIco, icon(large).fill(0, ...HOLE))).toMatchObject(odd('zeros'))
  })

  test('that names the same bytes a thousand times costs no more', async () => {
    const { bytes: inside } = png(400, 300)
    const entries = Array.from({ length: 60_000 }, (_, at) =>
      entry(inside.length, 6 + 16 * 60_000 + (at % 999)),
    )
    expect(await verdictOf(walkIco, ico(...entries), inside)).toMatchObject({ kind: 'missing' })
  })
})
