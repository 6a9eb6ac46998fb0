import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ByteReader } from '../../../src/protocol/byte-reader.ts'
import { walkJpeg } from '../../../src/protocol/picture/jpeg/jpeg.ts'
import { appSegment, be16, bytes, exif, frame, jpeg } from '../bytes.ts'
import { SparseSource } from '../sources.ts'
import { lengthsWithin, partsOf, verdictOf } from '../verdicts.ts'
import { chanceOf, codesOf, DC, drawn, QUANT, scanOf, segment } from './jpegs.ts'

const CLOSED = { kind: 'closed', early: true }
const FOLLOWED = { kind: 'closed', early: false }
const PICTURES = join(import.meta.dirname, '../../../src/cli/try/pictures')
const verdict = (...file: Parameters<typeof bytes>) => verdictOf(walkJpeg, ...file)
const zeros = (length: number) => Buffer.alloc(length)

/** The picture with a hole. */
function holed(file: Buffer, from: number, length: number): Buffer {
  return Buffer.from(file).fill(0, from, from + length)
}

describe('a whole JPEG', () => {
  test.each([
    ['of one component', drawn()],
    [
      'with 4:2:0',
      drawn({
        sampling: ['2x2', '1x1', '1x1'],
      }),
    ],
    [
      'with 4:1:1',
      drawn({
        sampling: ['4x1', '1x1', '1x1'],
      }),
    ],
    [
      'with restart markers',
      drawn({
        interval: 3,
        sampling: ['2x1', '1x1', '1x1'],
      }),
    ],
    [
      'with a scan for each component',
      drawn({
        isApart: true,
        width: 155,
        sampling: ['2x2', '1x1', '1x1'],
      }),
    ],
    ['of one component with factors', drawn({ width: 155, height: 117, sampling: ['2x2'] })],
    ['of one colour, whose scan is zeros', drawn({ isFlat: true, width: 2000, height: 1500 })],
    [
      'of one colour with restart markers',
      drawn({ isFlat: true, width: 2000, interval: 7000, height: 1500 }),
    ],
  ])('%s is closed, and without its EOI odd', async (_, file) => {
    expect(await verdict(file)).toEqual(CLOSED)
    expect(await verdict(file.subarray(0, -1))).toMatchObject({ kind: 'odd', code: 'no_end' })
    expect(await verdict(file.subarray(0, -2))).toMatchObject({ kind: 'odd', code: 'no_end' })
    expect((await verdict(file.subarray(0, -4))).kind).toBe('missing')
  })

  test.each([
    ['a progressive', 0xc2],
    ['an arithmetic', 0xc9],
  ])(
    'whose blocks can’t be counted, %s one, is not whole without EOI, and zeros in it are odd',
    async (_, code) => {
      const file = drawn({ code })
      expect(await verdict(file)).toEqual(CLOSED)
      const cut = { kind: 'missing', code: 'cut', part: 'EOI', at: file.length - 2 }
      expect(await verdict(file.subarray(0, -2))).toEqual(cut)
      const at = scanOf(file) + 50
      expect(await verdict(holed(file, at, 63))).toEqual(CLOSED)
      expect(await verdict(holed(file, at, 70))).toMatchObject({
        kind: 'odd',
        code: 'zeros',
        at: expect.any(Number),
      })
    },
  )

  test('has its parts in order, each where the one before ends', async () => {
    const parts = await partsOf(walkJpeg, drawn({ before: appSegment(0, 14), interval: 4 }))
    const names = ['SOI', 'APP0', 'DQT', 'DHT', 'DHT', 'DRI', 'SOF0', 'SOS', 'scan', 'EOI']
    expect(parts.map(({ name }) => name)).toEqual(names)
    for (const [nth, { from }] of parts.entries()) expect(from).toBe(nth === 0 ? 0 : parts[nth - 1]!.to)
    expect(parts[6]!.states).toEqual({ width: 160, height: 120 })
  })

  test('states orientations', async () => {
    const states = (await partsOf(walkJpeg, drawn({ before: bytes(exif(6), exif(3)) }))).map(
      part => part.states,
    )
    expect(states.filter(Boolean)).toEqual([
      { orientation: 6 },
      { orientation: 3 },
      { width: 160, height: 120 },
    ])
  })
})

describe('a hole', () => {
  const files = [
    drawn({ width: 600, height: 400 }),
    drawn({
      width: 600,
      height: 400,
      sampling: ['2x2', '1x1', '1x1'],
      interval: 475,
    }),
    drawn({
      width: 600,
      height: 400,
      sampling: ['2x1', '1x1', '1x1'],
      isApart: true,
    }),
    ...['Holiday/Coast/Lighthouse.jpeg', 'Holiday/Mountains/Panorama from the summit.jpg'].map(name =>
      readFileSync(join(PICTURES, name)),
    ),
  ]

  test.each(files.map((file, nth) => [nth, file] as const))(
    'in a scan is missing: picture %i',
    async (_, file) => {
      const chance = chanceOf(3)
      for (let nth = 0; nth < 30; nth++) {
        const length = 200 + (chance() % 2000)
        const from = scanOf(file) + (chance() % (file.length - scanOf(file) - length - 2))
        const found = await verdict(holed(file, from, length))
        expect([from, length, found]).toMatchObject([from, length, { kind: 'missing', code: 'unwritten' }])
      }
    },
  )

  test('whose zeros would be as many blocks is missing, unless zeros end a block', async () => {
    // Eight blocks of 63 coefficients with the code 00 and one bit, which no picture has, take 191 bytes.
    const first = bytes(
      segment(0xdb, 0, QUANT),
      segment(0xc4, 0, DC),
      segment(0xc4, 0x10, codesOf(0x01, 0, 0xf0)),
    )
    const file = drawn({ width: 64, height: 8, tables: first })
    const hole = bytes(file.subarray(0, scanOf(file)), zeros(191), 0xff, 0xd9)
    expect(await verdict(hole)).toMatchObject({ kind: 'missing', code: 'unwritten' })
    expect(await verdict(drawn({ width: 1600, height: 80, isFlat: true }))).toEqual(CLOSED)
  })

  test('is not the zeros that the last bits happen to be, where EOI is not there', async () => {
    const file = drawn({ width: 16, height: 8, isFlat: true })
    expect(file.subarray(scanOf(file), -2)).toEqual(zeros(1))
    expect(await verdict(file.subarray(0, -2))).toMatchObject({ kind: 'odd', code: 'no_end' })
  })

  test('that takes the frame and the scan’s header leaves an EOI that ends nothing', async () => {
    const file = drawn({ before: appSegment(1, 100) })
    expect(await verdict(holed(file, 80, scanOf(file)))).toMatchObject({ code: 'unwritten', at: 106 })
    expect(await verdict(jpeg(appSegment(0, 14)))).toMatchObject({ kind: 'missing', code: 'no_pixels' })
    expect(await verdict(jpeg(frame(0xc0, 64, 48)))).toMatchObject({ code: 'no_pixels' })
    const scan = bytes(segment(0xda, 1, 1, 0, 0, 63, 0), 'pixels')
    expect(await verdict(jpeg(scan))).toMatchObject({ kind: 'missing', code: 'no_pixels' })
  })

  test('of 16 zeros between segments is room that is not written, and fewer are a camera’s', async () => {
    expect(await verdict(drawn({ before: bytes(appSegment(0, 14), zeros(16)) }))).toMatchObject({
      kind: 'missing',
      code: 'unwritten',
      at: 20,
    })
    expect(await verdict(drawn({ before: bytes(appSegment(0, 14), zeros(15)) }))).toEqual(CLOSED)
  })

  test('is not the zeros between the last block and EOI', async () => {
    const file = drawn()
    expect(await verdict(file.subarray(0, -2), zeros(500), 0xff, 0xd9)).toEqual(CLOSED)
    expect(await verdict(file.subarray(0, -9), zeros(500), 0xff, 0xd9)).toMatchObject({ code: 'unwritten' })
  })
})

describe('a broken form', () => {
  test.each([
    ['fill bytes', bytes(Buffer.alloc(70_000, 0xff)), CLOSED],
    ['a few stray bytes', bytes('stray', 0xff, 0x00), CLOSED],
    ['markers without a segment', bytes(0xff, 0x01, 0xff, 0xd0), CLOSED],
    ['many stray bytes', bytes('stray bytes of a camera'), CLOSED],
    ['a comment of length 0', bytes(0xff, 0xfe, be16(0)), { kind: 'odd', code: 'length', part: 'COM' }],
    ['an APP5 of length 1', bytes(0xff, 0xe5, be16(1)), { kind: 'odd', code: 'length', part: 'APP5' }],
    ['a table of length 1', bytes(0xff, 0xdb, be16(1)), { kind: 'missing', code: 'broken', part: 'DQT' }],
    ['a segment behind the file’s end', bytes(0xff, 0xe5, be16(65_535)), { kind: 'missing', code: 'cut' }],
  ])('is judged by what the pixels need: %s', async (_, before, found) => {
    expect(await verdict(drawn({ before }))).toMatchObject(found)
  })

  test('of damaged pixels, which look like the marker of a segment, does not lead astray', async () => {
    const file = drawn({ width: 600, height: 400 })
    const at = scanOf(file) + 700
    const damaged = Buffer.from(file)
    for (const code of [0xc4, 0xda, 0xe1, 0xfe, 0xd8, 0x17]) {
      damaged.set([0xff, code], at)
      expect(await verdict(damaged)).toEqual(CLOSED)
    }
  })
})

describe('a JPEG that is cut', () => {
  const file = readFileSync(join(PICTURES, 'Holiday/Coast/Lighthouse.jpeg'))
  /** Up to the last byte of the scan; from then on only the end mark is not there. */
  const lengths = lengthsWithin(file.length - 2)

  test('is missing, wherever', async () => {
    for (const length of lengths)
      expect([length, (await verdict(file.subarray(0, length))).kind]).toEqual([length, 'missing'])
  })

  test('is missing in room that was reserved for it', async () => {
    for (const length of lengths) {
      const reserved = bytes(file.subarray(0, length), zeros(file.length - length))
      if (!reserved.equals(file))
        expect([length, (await verdict(reserved)).kind]).toEqual([length, 'missing'])
    }
  })

  test('between two scans is missing: components have none', async () => {
    const apart = drawn({
      isApart: true,
      sampling: ['1x1', '1x1', '1x1'],
    })
    const second = apart.indexOf(Buffer.from([0xff, 0xda]), scanOf(apart))
    for (const to of [second, second + 1, second + 5, second + 10])
      expect((await verdict(apart.subarray(0, to))).kind).toBe('missing')
  })
})

describe('whatever the bytes', () => {
  test('a walk reads the file once, 64 KiB at a time', async () => {
    const file = drawn({ width: 3000, height: 2000 })
    const source = new SparseSource(file.length, [{ at: 0, bytes: file }])
    for await (const _ of walkJpeg(new ByteReader(source)));
    expect(source.longestRead).toBe(64 * 1024)
    expect(source.bytesRead).toBeLessThan(file.length + 70_000)
  })

  test.each([
    ['segments that may be pixels', bytes(0xff, 0xc4, 0xfd, 0x00)],
    ['short ones', bytes(0xff, 0xc4, 0x0f, 0xf0)],
    ['stray bytes', bytes('abcd')],
    ['fill bytes', bytes(0xff, 0xff, 0xff, 0xff)],
    ['whole images', drawn({ width: 8, height: 8 })],
  ])('a crafted file of %s costs not many times its size', async (_, unit) => {
    const file = bytes(drawn().subarray(0, -2), Buffer.alloc(1_000_000, unit))
    const source = new SparseSource(file.length, [{ at: 0, bytes: file }])
    for await (const _ of walkJpeg(new ByteReader(source)));
    expect(source.bytesRead).toBeLessThan(6 * file.length)
  })

  test('mutated ones have a verdict, and each cut one is never early', async () => {
    const chance = chanceOf(11)
    const files = [
      drawn({ interval: 2 }),
      drawn({ code: 0xc2 }),
      drawn({
        isApart: true,
        sampling: ['2x1', '1x1'],
      }),
    ]
    for (let nth = 0; nth < 1500; nth++) {
      const file = Buffer.from(files[nth % 3]!)
      for (let each = 0; each < 1 + (nth % 5); each++) file[chance() % file.length] = chance()
      expect(['closed', 'odd', 'missing']).toContain((await verdict(file)).kind)
      expect(await verdict(file.subarray(0, chance() % (file.length - 2)))).not.toEqual(CLOSED)
    }
  })

  test('behind the end are no flaw, unless they are zeros', async () => {
    expect(await verdict(drawn(), 'a film')).toEqual(FOLLOWED)
    expect(await verdict(drawn(), zeros(15))).toEqual(FOLLOWED)
    expect(await verdict(drawn(), zeros(16))).toMatchObject({ kind: 'odd', code: 'zeros' })
    expect(await verdict(drawn(), 'SEFT', zeros(5000))).toMatchObject({ kind: 'odd', code: 'zeros' })
  })
})
