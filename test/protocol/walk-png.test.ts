import { deflateRawSync, deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { walkPng } from '../../src/protocol/picture/png.ts'
import { be16, be32, bytes, pngChunk } from './bytes.ts'
import { partsOf, verdictOf } from './verdicts.ts'

const SIGNATURE = '\x89PNG\r\n\x1a\n'
const CLOSED = { kind: 'closed', early: true }
const missing = (code: string, part: string) => ({ kind: 'missing', code, part: `chunk ${part}` })
const odd = (code: string, part: string) => ({ kind: 'odd', code, part: `chunk ${part}` })

/** The chunk with another check sum. */
function unsummed(whole: Buffer): Buffer {
  return bytes(whole.subarray(0, -4), be32((whole.readUInt32BE(whole.length - 4) ^ 1) >>> 0))
}

const header = pngChunk('IHDR', be32(40), be32(30), 8, 0, 0, 0, 0)
const rows = Buffer.from(Array.from({ length: 30 * 41 }, (_, at) => (at % 41 === 0 ? 0 : (at * at) % 251)))
const IEND = pngChunk('IEND')
const pixels = pngChunk('IDAT', deflateSync(rows))
const start = bytes(SIGNATURE, header)
const whole = bytes(start, pixels, IEND)

describe('a PNG', () => {
  test('is closed with its pixels and its end, and yields its chunks in order', async () => {
    expect(await verdictOf(walkPng, whole)).toEqual(CLOSED)
    const parts = await partsOf(
      walkPng,
      start,
      pngChunk('tEXt', 'a'),
      pngChunk('PLTE', 1, 2, 3),
      pixels,
      IEND,
    )
    expect(parts.map(({ role, name }) => [role, name])).toEqual([
      ['header', 'IHDR'],
      ['metadata', 'tEXt'],
      ['header', 'PLTE'],
      ['image', 'IDAT'],
      ['end', 'IEND'],
    ])
    expect(parts.map(({ from }) => from).slice(1)).toEqual(parts.map(({ to }) => to).slice(0, -1))
  })

  test('whose chunks are followed by zeros or by something else lacks pixels', async () => {
    const next = { kind: 'missing', code: 'unwritten', part: 'next chunk', at: start.length }
    expect(await verdictOf(walkPng, start, Buffer.alloc(400))).toEqual(next)
    expect(await verdictOf(walkPng, start, be32(4), 'a1b2', whole)).toMatchObject(missing('broken', 'IDAT'))
    expect(await verdictOf(walkPng, start, IEND)).toMatchObject(missing('no_pixels', 'IEND'))
  })

  test('names the chunk that is cut off', async () => {
    expect(await verdictOf(walkPng, whole.subarray(0, -20))).toMatchObject(missing('cut', 'IDAT'))
    const cut = { ...missing('cut', 'IEND'), at: whole.length - 6 }
    expect(await verdictOf(walkPng, whole.subarray(0, -6))).toEqual(cut)
    expect(await verdictOf(walkPng, whole.subarray(0, -10))).toEqual({ ...cut, at: whole.length - 10 })
    expect(await verdictOf(walkPng, whole.subarray(0, -1), 0)).toMatchObject(missing('checksum', 'IEND'))
  })

  test('is not ended by what only looks like its end, within a chunk', async () => {
    const text = pngChunk('tEXt', IEND, be32(0))
    expect(await verdictOf(walkPng, start, text.subarray(0, 20))).toMatchObject(missing('cut', 'tEXt'))
    expect(await verdictOf(walkPng, start, text, pixels, IEND)).toEqual(CLOSED)
  })

  test('may have bytes behind its end, but zeros may be room that is reserved', async () => {
    expect(await verdictOf(walkPng, whole, 'a film')).toEqual({ kind: 'closed', early: false })
    expect(await verdictOf(walkPng, whole, 0, 0)).toEqual({ kind: 'closed', early: false })
    expect(await verdictOf(walkPng, whole, Buffer.alloc(5000))).toMatchObject({ kind: 'odd', code: 'zeros' })
  })
})

describe('the pixels of a PNG', () => {
  test('whose check sum is wrong are whole where their own check sum says so', async () => {
    expect(await verdictOf(walkPng, start, unsummed(pixels), IEND)).toMatchObject(odd('one_checksum', 'IDAT'))
    const mixed = Buffer.from(pixels).fill(7, 200, 220)
    expect(await verdictOf(walkPng, start, mixed, IEND)).toMatchObject(missing('checksum', 'IDAT'))
    const sumless = unsummed(pngChunk('IDAT', deflateSync(rows).subarray(0, -4)))
    expect(await verdictOf(walkPng, start, sumless, IEND)).toMatchObject(missing('checksum', 'IDAT'))
  })

  test('may stand in several chunks, of which any may be in doubt, and with bytes behind their stream', async () => {
    const data = bytes(deflateSync(rows), 'and more')
    for (const at of [1, 2, 5, data.length - 20, data.length - 10, data.length - 3]) {
      const [one, other] = [pngChunk('IDAT', data.subarray(0, at)), pngChunk('IDAT', data.subarray(at))]
      expect(await verdictOf(walkPng, start, unsummed(one), other, IEND)).toMatchObject(
        odd('one_checksum', 'IDAT'),
      )
      expect(await verdictOf(walkPng, start, one, unsummed(other), IEND)).toMatchObject(
        odd('one_checksum', 'IDAT'),
      )
    }
  })

  test('without an end mark are whole where their stream is', async () => {
    expect(await verdictOf(walkPng, start, pixels)).toMatchObject(odd('no_end', 'IEND'))
    expect(await verdictOf(walkPng, start, pixels, 'something else')).toMatchObject(odd('no_end', 'IEND'))
    const half = pngChunk('IDAT', deflateSync(rows).subarray(0, 300))
    expect(await verdictOf(walkPng, start, half)).toMatchObject(missing('cut', 'IEND'))
    expect(await verdictOf(walkPng, start, half, 'something else')).toMatchObject(missing('broken', 'IEND'))
  })

  test('in Apple’s own kind have no check sum of their own', async () => {
    const apple = bytes(SIGNATURE, pngChunk('CgBI', be32(0x50002002)), header)
    expect(await verdictOf(walkPng, apple, pngChunk('IDAT', deflateRawSync(rows)), IEND)).toEqual(CLOSED)
  })
})

test('the metadata of a PNG may be broken for good, but may not have a hole', async () => {
  const file = (text: Buffer) => verdictOf(walkPng, start, text, pixels, IEND)
  const long = pngChunk('iTXt', Buffer.alloc(20_000, 'x'))
  expect(await file(unsummed(long))).toMatchObject(odd('stray', 'iTXt'))
  expect(await file(long.fill(0, 8000, 18_000))).toMatchObject(missing('checksum', 'iTXt'))
  expect(await file(unsummed(pngChunk('tRNS', 0, 0)))).toMatchObject(missing('checksum', 'tRNS'))
})

describe('an animated PNG', () => {
  const control = (n: number) =>
    pngChunk('fcTL', be32(n), be32(40), be32(30), be32(0), be32(0), be16(1), be16(9), 0, 0)
  const further = (n: number) => pngChunk('fdAT', be32(n), deflateSync(rows))
  const two = bytes(start, pngChunk('acTL', be32(2), be32(0)), control(0), pixels, control(1))

  test('has all its frames', async () => {
    expect(await verdictOf(walkPng, two, further(2), IEND)).toEqual(CLOSED)
    expect(await verdictOf(walkPng, two, further(2).fill(9, 100, 120), IEND)).toMatchObject(
      missing('checksum', 'fdAT'),
    )
    expect(await verdictOf(walkPng, two, further(2))).toMatchObject(missing('cut', 'IEND'))
    expect(await verdictOf(walkPng, two)).toMatchObject(missing('cut', 'IEND'))
  })
})
