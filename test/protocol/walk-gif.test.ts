import { describe, expect, test } from 'vitest'
import { walkGif } from '../../src/protocol/picture/gif.ts'
import { bytes, le16 } from './bytes.ts'
import { verdictOf } from './verdicts.ts'

const CLOSED = { kind: 'closed', early: true }
const head = bytes('GIF89a', le16(300), le16(40), 0x80, 0, 0, Buffer.alloc(6, 9))

/** An image whose pixels are stored in codes of nine bits, none of them compressed. */
function image(width: number, height: number, table = 0): Buffer {
  const codes: number[] = []
  for (let at = 0; at < width * height; at++) {
    if (at % 200 === 0) codes.push(256)
    codes.push((at * 7) % 251)
  }
  codes.push(257)
  const data = Buffer.alloc(Math.ceil((codes.length * 9) / 8))
  for (const [at, code] of codes.entries())
    for (let bit = 0; bit < 9; bit++)
      if (code & (1 << bit)) data[(at * 9 + bit) >> 3]! |= 1 << ((at * 9 + bit) & 7)
  const parts: Buffer[] = []
  for (let at = 0; at < data.length; at += 255) {
    const part = data.subarray(at, at + 255)
    parts.push(bytes(part.length, part))
  }
  return bytes(
    0x2c,
    le16(0),
    le16(0),
    le16(width),
    le16(height),
    table ? 0x80 : 0,
    Buffer.alloc(table),
    8,
    ...parts,
    0,
  )
}

const one = image(300, 40)
const comment = bytes(0x21, 0xfe, 3, 'a;b', 0)
const control = bytes(0x21, 0xf9, 4, 0, 9, 0, 0, 0)

describe('a GIF', () => {
  test('ends with its trailer, not with one among its data', async () => {
    expect(await verdictOf(walkGif, head, comment, control, image(20, 4, 6), ';')).toEqual(CLOSED)
    expect(await verdictOf(walkGif, head, comment, one.subarray(0, -1))).toMatchObject({
      kind: 'missing',
      code: 'cut',
      part: 'image 1',
    })
    expect(await verdictOf(walkGif, head, comment.subarray(0, 5))).toMatchObject({
      kind: 'missing',
      code: 'cut',
    })
    expect(await verdictOf(walkGif, head, comment)).toMatchObject({ kind: 'missing', code: 'no_pixels' })
    expect(await verdictOf(walkGif, head, one, ';a film')).toEqual({ kind: 'closed', early: false })
  })

  test('without a trailer is odd where its last image has ended and no further one is announced', async () => {
    const noEnd = { kind: 'odd', code: 'no_end' }
    expect(await verdictOf(walkGif, head, one)).toMatchObject(noEnd)
    expect(await verdictOf(walkGif, head, one, comment)).toMatchObject(noEnd)
    expect(await verdictOf(walkGif, head, one, 'xy')).toMatchObject(noEnd)
    expect(await verdictOf(walkGif, head, one, control)).toMatchObject({
      kind: 'missing',
      code: 'cut',
      part: 'image 2',
    })
    for (const begun of ['!', ','])
      expect(await verdictOf(walkGif, head, one, begun)).toMatchObject({ kind: 'missing', code: 'cut' })
  })

  test('may have few zeros between its blocks; more are a hole', async () => {
    expect(await verdictOf(walkGif, head, one, 0, 0, one, ';')).toEqual(CLOSED)
    const hole = { kind: 'missing', code: 'unwritten' }
    expect(await verdictOf(walkGif, head, one, Buffer.alloc(20), one, ';')).toMatchObject(hole)
    expect(await verdictOf(walkGif, head, Buffer.from(one).fill(0, 4096, 8192), ';')).toMatchObject(hole)
    expect(await verdictOf(walkGif, head, one, 0)).toMatchObject(hole)
  })

  test('may have something else between its blocks, if its end mark is there', async () => {
    expect(await verdictOf(walkGif, head, one, 'xy', control, one, ';')).toMatchObject({
      kind: 'odd',
      code: 'stray',
    })
    expect(await verdictOf(walkGif, head, one, 'xy', one, ';')).toMatchObject({ kind: 'odd', code: 'stray' })
    const hole = await verdictOf(walkGif, head, one, 'xy', Buffer.from(one).fill(0, 500, 8900), ';')
    expect(hole).toMatchObject({ kind: 'missing', code: 'unwritten' })
    const further = await verdictOf(walkGif, head, one, 'xy', one)
    expect(further).toMatchObject({ kind: 'missing', code: 'broken' })
  })

  test('of which the first half is new and the second old is not whole', async () => {
    const [other, half] = [image(300, 40).map(byte => byte ^ 0x55), one.length >> 1]
    expect(await verdictOf(walkGif, head, one.subarray(0, half), other.subarray(half), ';')).toMatchObject({
      kind: 'missing',
    })
  })
})
