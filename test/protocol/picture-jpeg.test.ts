import { describe, expect, test } from 'vitest'
import { readPicture } from '../../src/protocol/picture/picture.ts'
import { app1, appSegment, be16, be32, bytes, exif, frame, jpeg, le16, le32 } from './bytes.ts'
import { SparseSource, sourceOf } from './sources.ts'

const SIZE = { format: 'jpeg', mime: 'image/jpeg', width: 640, height: 480 }
const UNKNOWN = { format: 'jpeg', mime: 'image/jpeg', width: null, height: null }
const SOF0 = 0xc0
const FRAME = frame(SOF0, 640, 480)

describe('the size of a JPEG', () => {
  test.each([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf])(
    'is read from the frame of marker %i',
    async marker => {
      expect(await readPicture(sourceOf(jpeg(appSegment(0, 14), frame(marker, 640, 480))))).toEqual(SIZE)
    },
  )

  test.each([
    ['DHT', 0xc4],
    ['JPG', 0xc8],
    ['DAC', 0xcc],
  ])('is not read from %s, which stands among the frame markers', async (_name, marker) => {
    expect(await readPicture(sourceOf(jpeg(frame(marker, 9, 9), FRAME)))).toEqual(SIZE)
  })

  test('is found behind 3 MB of EXIF and ICC segments, in small reads', async () => {
    const segments = Array.from({ length: 50 }, (_, n) => appSegment(n < 25 ? 1 : 2, 65_000))
    const source = sourceOf(jpeg(...segments, FRAME, Buffer.alloc(100_000)))
    expect(await readPicture(source)).toEqual(SIZE)
    expect(source.longestRead).toBe(64 * 1024)
    expect(source.bytesRead).toBeLessThan(400_000)
  })

  test('costs one read of 64 KiB where the frame stands within it, whatever the size of the file', async () => {
    const source = new SparseSource(5e9, [{ at: 0, bytes: jpeg(appSegment(1, 40_000), FRAME) }])
    expect(await readPicture(source)).toEqual(SIZE)
    expect([source.reads, source.bytesRead]).toEqual([1, 64 * 1024])
  })

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
    'is found where the first read ends %i bytes into the frame header',
    async into => {
      const segment = appSegment(1, 64 * 1024 - 2 - 4 - into)
      expect(await readPicture(sourceOf(jpeg(segment, FRAME, Buffer.alloc(100))))).toEqual(SIZE)
    },
  )

  test.each([0, 1, 2, 3])(
    'is found where the first read ends %i bytes into a marker behind stray bytes',
    async into => {
      const stray = Buffer.alloc(64 * 1024 - 2 - into)
      expect(
        await readPicture(sourceOf(bytes(0xff, 0xd8, 0xff, 0xe0, be16(2), stray.subarray(4), FRAME))),
      ).toEqual(SIZE)
    },
  )

  test.each([
    ['fill bytes before a marker', bytes(Buffer.alloc(70_000, 0xff))],
    ['stray bytes between segments', bytes('padding', 0xff, 0x00)],
    ['markers without a segment', bytes(0xff, 0x01, 0xff, 0xd0, 0xff, 0xd7)],
  ])('is found behind %s', async (_name, stray) => {
    expect(await readPicture(sourceOf(jpeg(appSegment(0, 14), stray, FRAME)))).toEqual(SIZE)
  })

  test('is the one that is stored, also where EXIF turns the picture on its side', async () => {
    for (const orientation of [5, 6, 7, 8])
      expect(await readPicture(sourceOf(jpeg(exif(orientation), FRAME)))).toEqual({ ...SIZE, turned: true })
    for (const orientation of [0, 1, 2, 3, 4, 9])
      expect(await readPicture(sourceOf(jpeg(exif(orientation), FRAME)))).toEqual(SIZE)
  })

  test('is turned by the first EXIF, in either byte order, behind other segments', async () => {
    const little = bytes('II', le16(42), le32(8), le16(1), le16(0x0112), le16(3), le32(1), le16(6), le16(0))
    const behind = jpeg(appSegment(0, 14), appSegment(1, 70_000 - 5000), app1(little), exif(1), FRAME)
    expect(await readPicture(sourceOf(behind))).toEqual({ ...SIZE, turned: true })
    expect(await readPicture(sourceOf(jpeg(exif(1), exif(6), FRAME)))).toEqual(SIZE)
  })

  test('is not turned by an EXIF that points behind the end of the file, or has no orientation', async () => {
    const far = bytes('MM', be16(42), be32(2 ** 31))
    const none = bytes('MM', be16(42), be32(8), be16(1), be16(0x0110), be16(3), be32(1), be16(6), be16(0))
    for (const tiff of [far, none, bytes('MM')])
      expect(await readPicture(sourceOf(jpeg(app1(tiff), FRAME)))).toEqual(SIZE)
  })

  test('is not that of the thumbnail in EXIF', async () => {
    const thumbnail = jpeg(frame(SOF0, 160, 120))
    const segment = bytes(0xff, 0xe1, be16(thumbnail.length + 2), thumbnail)
    expect(await readPicture(sourceOf(jpeg(segment, FRAME)))).toEqual(SIZE)
  })

  test.each([
    ['it ends before its frame', jpeg(appSegment(0, 14))],
    ['its end comes before its frame', bytes(jpeg(appSegment(0, 14)), be16(2), FRAME)],
    ['its scan begins before its frame', jpeg(bytes(0xff, 0xda, be16(2)), FRAME)],
    ['it is cut in its frame header', bytes(0xff, 0xd8, FRAME.subarray(0, 8))],
    ['a segment reaches beyond the end', bytes(0xff, 0xd8, appSegment(1, 900).subarray(0, 20))],
    ['its height is left to the scan', jpeg(frame(SOF0, 640, 0))],
    ['its width is zero', jpeg(frame(SOF0, 0, 480))],
  ])('is unknown where %s', async (_name, file) => {
    expect(await readPicture(sourceOf(file))).toEqual(UNKNOWN)
  })

  test.each([
    ['segments without a payload', bytes(0xff, 0xe1, be16(2))],
    ['fill bytes', bytes(0xff)],
    ['stray bytes', bytes('ab')],
  ])('is given up after 5 MB in a file of 64 MB of %s', async (_name, unit) => {
    const source = new SparseSource(64e6, [
      { at: 0, bytes: bytes(0xff, 0xd8, 0xff, 0xe0, be16(2)) },
      { at: 6, bytes: Buffer.alloc(64e6 - 6, unit) },
    ])
    expect(await readPicture(source)).toEqual(UNKNOWN)
    expect(source.bytesRead).toBeLessThan(5e6)
  })
})
