import { describe, expect, test } from 'vitest'
import { readPicture } from '../../src/protocol/picture/picture.ts'
import { SparseSource } from './sources.ts'

const SHORT = 3
const LONG = 4
const RATIONAL = 5

type Entry = [tag: number, type: number, value: number]
interface Kind {
  little: boolean
}

const WIDTH: Entry = [256, LONG, 640]
const HEIGHT: Entry = [257, LONG, 480]
const SIZE = { format: 'tiff', mime: 'image/tiff', width: 640, height: 480 }
const UNKNOWN = { format: 'tiff', mime: 'image/tiff', width: null, height: null }
const KINDS: [string, Kind][] = [
  ['TIFF, little-endian', { little: true }],
  ['TIFF, big-endian', { little: false }],
]
const CLASSIC = KINDS[0]![1]

function header({ little }: Kind, directoryAt: number): Buffer {
  const view = new DataView(new ArrayBuffer(8))
  view.setUint16(0, little ? 0x4949 : 0x4d4d)
  view.setUint16(2, 42, little)
  view.setUint32(4, directoryAt, little)
  return Buffer.from(view.buffer)
}

function directory({ little }: Kind, entries: Entry[], next = 0): Buffer {
  const view = new DataView(new ArrayBuffer(2 + entries.length * 12 + 4))
  view.setUint16(0, entries.length, little)
  entries.forEach(([tag, type, value], index) => {
    const at = 2 + index * 12
    view.setUint16(at, tag, little)
    view.setUint16(at + 2, type, little)
    view.setUint32(at + 4, 1, little)
    if (type === SHORT) view.setUint16(at + 8, value, little)
    else view.setUint32(at + 8, value, little)
  })
  view.setUint32(2 + entries.length * 12, next, little)
  return Buffer.from(view.buffer)
}

function tiff(kind: Kind, at: number, entries: Entry[], next?: number): SparseSource {
  const bytes = directory(kind, entries, next)
  return new SparseSource(at + bytes.byteLength, [
    { at: 0, bytes: header(kind, at) },
    { at, bytes },
  ])
}

describe.each(KINDS)('the size of a %s', (_name, kind) => {
  test('is read from a directory that follows the header', async () => {
    expect(await readPicture(tiff(kind, 16, [WIDTH, HEIGHT]))).toEqual(SIZE)
  })

  test('is read from a directory behind 5 MB of strips, in two small reads', async () => {
    const source = tiff(kind, 5_000_001, [[254, LONG, 0], WIDTH, HEIGHT, [258, SHORT, 8]])
    expect(await readPicture(source)).toEqual(SIZE)
    expect(source.reads).toBe(2)
    expect(source.bytesRead).toBeLessThan(70_000)
  })

  test('is read from values of 16 bits', async () => {
    const entries: Entry[] = [
      [256, SHORT, 640],
      [257, SHORT, 480],
    ]
    expect(await readPicture(tiff(kind, 16, entries))).toEqual(SIZE)
  })

  test('is read from a directory that the end of the first read cuts', async () => {
    for (let at = 64 * 1024 - 40; at <= 64 * 1024; at++) {
      expect(await readPicture(tiff(kind, at, [WIDTH, HEIGHT]))).toEqual(SIZE)
    }
  })

  test('is read once from a directory that names itself as the next', async () => {
    const source = tiff(kind, 100_000, [[254, LONG, 0]], 100_000)
    expect(await readPicture(source)).toEqual(UNKNOWN)
    expect(source.reads).toBeLessThanOrEqual(3)
  })
})

describe('the size of a TIFF', () => {
  test('is that of the first page', async () => {
    const source = new SparseSource(9000, [
      { at: 0, bytes: header(CLASSIC, 100) },
      { at: 100, bytes: directory(CLASSIC, [WIDTH, HEIGHT], 5000) },
      {
        at: 5000,
        bytes: directory(CLASSIC, [
          [256, LONG, 64],
          [257, LONG, 48],
        ]),
      },
    ])
    expect(await readPicture(source)).toEqual(SIZE)
  })

  test.each<[string, number, Entry[]]>([
    ['it has no height', 16, [WIDTH]],
    ['its width is zero', 16, [[256, LONG, 0], HEIGHT]],
    ['its width is a fraction', 16, [[256, RATIONAL, 640], HEIGHT]],
    ['its width has more than 31 bits', 16, [[256, LONG, 2 ** 31], HEIGHT]],
  ])('is unknown where %s', async (_name, at, entries) => {
    expect(await readPicture(tiff(CLASSIC, at, entries))).toEqual(UNKNOWN)
  })

  test.each([0xffff_fff0, 1_000_000, 70_000])(
    'is unknown where its directory is said to be at %i, behind its end',
    async at => {
      const source = new SparseSource(70_000, [{ at: 0, bytes: header(CLASSIC, at) }])
      expect(await readPicture(source)).toEqual(UNKNOWN)
    },
  )
})

describe('a raw file of TIFF structure', () => {
  test('is no TIFF where it is Canon’s or Adobe’s', async () => {
    const cr2 = new SparseSource(200, [
      { at: 0, bytes: header(CLASSIC, 16) },
      { at: 8, bytes: Buffer.from('CR\x02\0') },
      { at: 16, bytes: directory(CLASSIC, [WIDTH, HEIGHT]) },
    ])
    expect(await readPicture(cr2)).toBeNull()
    expect(await readPicture(tiff(CLASSIC, 16, [WIDTH, HEIGHT, [50_706, LONG, 0x0401]]))).toBeNull()
  })

  test('is not mistaken for one where a scanner’s TIFF has a PrintIM tag or 28 entries', async () => {
    expect(await readPicture(tiff(CLASSIC, 8, [WIDTH, HEIGHT, [50_341, LONG, 0]]))).toEqual(SIZE)
    const many = Array.from({ length: 25 }, (_, n): Entry => [258 + n, SHORT, 1])
    expect(await readPicture(tiff(CLASSIC, 8, [[254, LONG, 0], WIDTH, HEIGHT, ...many]))).toEqual(SIZE)
  })
})
