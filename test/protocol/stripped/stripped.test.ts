import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { type Format, formatOfName } from '../../../src/protocol/formats.ts'
import { imageData } from '../../../src/protocol/picture/image-data.ts'
import { inspectPicture } from '../../../src/protocol/picture/picture.ts'
import { stripped } from '../../../src/protocol/picture/stripped/stripped.ts'
import { bytes } from '../bytes.ts'
import { drawn, segment } from '../jpeg/jpegs.ts'
import { SparseSource } from '../sources.ts'
import {
  BIG,
  camera,
  fullGif,
  fullJpeg,
  fullPng,
  fullTiff,
  fullWebp,
  LITTLE,
  PLACES,
  TAKEN,
} from './samples.ts'
import { strippedBytes } from './stripping.ts'

const FULL: [string, Format, Buffer][] = [
  ['a JPEG', 'jpeg', fullJpeg()],
  ['a JPEG with numbers in big endian', 'jpeg', fullJpeg(camera(6, BIG))],
  ['a PNG', 'png', fullPng()],
  ['a GIF', 'gif', fullGif()],
  ['a WebP', 'webp', fullWebp()],
  ['a TIFF', 'tiff', fullTiff(LITTLE)],
  ['a TIFF in big endian', 'tiff', fullTiff(BIG)],
]
const textsIn = (file: Buffer, texts: readonly string[]) => texts.filter(text => file.includes(text))
/** What makes a picture look as it does. EXIF's number 1 is no turn. */
const lookOf = async (format: Format, file: Buffer) => {
  const data = await imageData(format, sourceOfBytes(file))
  const { trailer: _, orientation = 1, ...facts } = data?.facts ?? {}
  const { picture } = await inspectPicture(sourceOfBytes(file))
  return { picture, sum: data?.sum.toString('hex'), facts: { ...facts, orientation } }
}

describe.each(FULL)('%s with places in all its corners', (_, format, file) => {
  test.each(['location', 'all'] as const)('has none of them without its metadata: %s', async how => {
    expect(textsIn(file, PLACES).length).toBeGreaterThan(2)
    const made = await strippedBytes(format, file, how)
    expect(textsIn(made, PLACES)).toEqual([])
    expect(textsIn(made, TAKEN)).toEqual(how === 'all' || format === 'gif' ? [] : TAKEN)
    expect(await lookOf(format, made)).toEqual(await lookOf(format, file))
    expect((await inspectPicture(sourceOfBytes(made))).verdict.kind).toBe('closed')
  })
})

const TURNS = [1, 2, 3, 4, 5, 6, 7, 8].flatMap(turn =>
  (['location', 'all'] as const).flatMap(how => [LITTLE, BIG].map(order => ({ turn, how, order }))),
)

test.each([
  ['jpeg', '', fullJpeg],
  ['png', '', fullPng],
  ['png', 'Exif\0\0', fullPng],
  ['webp', '', fullWebp],
  ['webp', 'Exif\0\0', fullWebp],
] as const)('how a %s is turned stays in EXIF with the name "%s"', async (format, name, full) => {
  for (const { turn, how, order } of TURNS) {
    const file = full(bytes(name, camera(turn, order)))
    const { facts } = await lookOf(format, await strippedBytes(format, file, how))
    expect(facts.orientation, `${turn} ${how}`).toBe(turn)
  }
})

test('a picture that is not turned, or by no number that there is, has no EXIF', async () => {
  for (const turn of [0, 1, 9, 6 * 256])
    expect((await strippedBytes('jpeg', fullJpeg(camera(turn)), 'all')).includes('Exif')).toBe(false)
  expect((await strippedBytes('jpeg', fullJpeg(camera(8)), 'all')).includes('Exif')).toBe(true)
})

describe('a picture without metadata', () => {
  const folder = join(import.meta.dirname, '../../../src/cli/try/pictures')
  const samples = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && formatOfName(entry.name) !== null)
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))

  test.each(samples)('%s looks the same', async path => {
    const file = readFileSync(join(folder, path))
    const { picture } = await inspectPicture(sourceOfBytes(file))
    for (const how of ['location', 'all'] as const) {
      const made = await strippedBytes(picture!.format, file, how)
      expect(await lookOf(picture!.format, made)).toEqual(await lookOf(picture!.format, file))
    }
  })

  test.each(['bmp', 'ico', 'svg'] as const)('is the same as a %s', async format => {
    expect(await stripped(format, sourceOfBytes(Buffer.from('anything')), 'all')).toEqual({ kind: 'whole' })
  })
})

describe('what is made', () => {
  test('is read from the file, piece by piece, and not held in memory', async () => {
    const [before, after] = [
      bytes(drawn().subarray(0, -2), segment(0xda, 1, 1, 0, 0, 63, 0)),
      drawn().subarray(-2),
    ]
    const size = before.length + 30e6 + after.length
    const pixels = { size: 30e6, read: (_: number, length: number) => Buffer.alloc(length, 0x55) }
    const head = bytes(before.subarray(0, 2), segment(0xe1, 'Exif\0\0', camera()), before.subarray(2))
    const source = new SparseSource(size + head.length - before.length, [
      { at: 0, bytes: head },
      { at: head.length, bytes: pixels.read(0, pixels.size) },
      { at: head.length + 30e6, bytes: after },
    ])
    const found = await stripped('jpeg', source, 'location')
    if (found.kind !== 'made') throw new Error(JSON.stringify(found))
    expect(source.longestRead).toBeLessThanOrEqual(64 * 1024)
    expect(found.source.size).toBeLessThan(source.size)
    expect(Buffer.from(await found.source.read(found.source.size - 2, 10))).toEqual(after)
  })

  test('is the same however it is read', async () => {
    const found = await stripped('webp', sourceOfBytes(fullWebp()), 'location')
    if (found.kind !== 'made') throw new Error(JSON.stringify(found))
    const { source } = found
    const whole = Buffer.from(await source.read(0, source.size))
    for (let at = 0; at < source.size; at += 7)
      for (const length of [0, 1, 30, source.size])
        expect(Buffer.from(await source.read(at, length))).toEqual(whole.subarray(at, at + length))
    expect(await source.read(source.size, 5)).toHaveLength(0)
  })

  test('ends with a file that can not be read', async () => {
    const failing = { size: 900, read: () => Promise.reject(new Error('gone')) }
    await expect(stripped('png', failing, 'all')).rejects.toThrow('gone')
  })
})
