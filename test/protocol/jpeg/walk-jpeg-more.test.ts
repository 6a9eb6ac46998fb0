import { describe, expect, test } from 'vitest'
import { walkJpeg } from '../../../src/protocol/picture/jpeg/jpeg.ts'
import { bytes } from '../bytes.ts'
import { partsOf, verdictOf } from '../verdicts.ts'
import { drawn, mpfSegment, segment } from './jpegs.ts'

const CLOSED = { kind: 'closed', early: true }
const FOLLOWED = { kind: 'closed', early: false }
const verdict = (...file: Parameters<typeof bytes>) => verdictOf(walkJpeg, ...file)
const zeros = (length: number) => Buffer.alloc(length)
const film = bytes('\0\0\0\x18ftypmp42', Buffer.alloc(5000, 'a film '))
const xmp = (text: string) => segment(0xe1, `http://ns.adobe.com/xap/1.0/\0<rdf:RDF>${text}</rdf:RDF>`)

/** A picture whose index names a second one behind the padding, with so many bytes more than it has. */
function twoOf(padding: number, more = 0): { first: Buffer; second: Buffer; all: Buffer } {
  const second = drawn({ width: 80, height: 60, code: 0xc2 })
  // The segment is as long whatever it says. It begins behind SOI.
  const { length } = drawn({ before: mpfSegment(8, 1) })
  const first = drawn({ before: mpfSegment(length + padding - 2, second.length + more) })
  return { first, second, all: bytes(first, zeros(padding), second) }
}

describe('a second image that the index names', () => {
  test.each([0, 5, 600, 70_000])('is closed behind %i bytes of padding', async padding => {
    const { all, first } = twoOf(padding)
    expect(await verdict(all)).toEqual(CLOSED)
    const names = (await partsOf(walkJpeg, all))
      .filter(({ from }) => from >= first.length)
      .map(({ name }) => name)
    expect(names.at(-1)).toBe('EOI')
    expect(names.includes('padding')).toBe(padding > 0)
  })

  test('is odd where it is wholly absent, and missing wherever it or the padding is cut', async () => {
    const { all, first } = twoOf(600)
    expect(await verdict(first)).toMatchObject({
      kind: 'odd',
      code: 'announced',
      part: 'second image or film',
    })
    expect(await verdict(first, 'a trailer')).toMatchObject({ kind: 'odd', code: 'announced' })
    for (let length = first.length + 1; length < all.length; length += 13)
      expect([length, (await verdict(all.subarray(0, length))).kind]).toEqual([length, 'missing'])
  })

  test('is missing without its last byte, though its pixels are all there', async () => {
    const second = drawn()
    const { length } = drawn({ before: mpfSegment(8, 1) })
    const first = drawn({ before: mpfSegment(length - 2, second.length) })
    expect(await verdict(first, second)).toEqual(CLOSED)
    expect(await verdict(first, second.subarray(0, -1))).toMatchObject({ kind: 'missing', code: 'cut' })
  })

  test('is missing in room that was reserved for it', async () => {
    const { all, first } = twoOf(600)
    expect(await verdict(first, zeros(all.length - first.length))).toEqual({
      ...{ kind: 'missing', code: 'unwritten', part: 'second image or film' },
      at: first.length + 600,
    })
    for (let length = first.length + 601; length < all.length - 2; length += 13)
      expect((await verdict(all.subarray(0, length), zeros(all.length - length))).kind).toBe('missing')
  })

  test('is there where an editor has moved it, or its length is not true', async () => {
    const { first, second } = twoOf(600)
    expect(await verdict(first, zeros(5), second)).toMatchObject({
      kind: 'odd',
      code: 'length',
      part: 'second image or film',
    })
    const longer = twoOf(0, 40)
    expect(await verdict(longer.all)).toMatchObject({ kind: 'odd', code: 'length' })
    expect(await verdict(longer.all, zeros(40))).toEqual(FOLLOWED)
  })

  test('that no index names must be whole too, and zeros before it are odd', async () => {
    const second = drawn()
    expect(await verdict(drawn(), second)).toEqual(CLOSED)
    expect(await verdict(drawn(), second.subarray(0, -30))).toMatchObject({
      kind: 'missing',
      part: 'scan',
    })
    expect(await verdict(drawn(), zeros(600), second)).toMatchObject({ kind: 'odd', code: 'zeros' })
  })
})

describe('a film that XMP announces', () => {
  const directory = (length: string) =>
    `<Container:Directory><rdf:Seq><rdf:li><Container:Item Item:Semantic="Primary" Item:Length="0" Item:Padding="40"/></rdf:li>
     <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="MotionPhoto" ${length}/></rdf:li></rdf:Seq></Container:Directory>`

  test.each([
    [
      'as a micro video',
      0,
      `<rdf:Description GCamera:MicroVideo="1" GCamera:MicroVideoOffset="${film.length}"/>`,
    ],
    ['in an element', 0, `<GCamera:MicroVideoOffset>${film.length}</GCamera:MicroVideoOffset>`],
    ['as an item behind padding', 40, directory(`Item:Length="${film.length}"`)],
  ])('%s must be there', async (_, padding, text) => {
    const photo = drawn({ before: xmp(text) })
    const all = bytes(photo, zeros(padding), film)
    expect(await verdict(all)).toEqual(FOLLOWED)
    expect(await verdict(photo)).toMatchObject({ kind: 'odd', code: 'announced' })
    expect(await verdict(all.subarray(0, -1))).toMatchObject({
      ...{ kind: 'missing', code: 'cut' },
      at: all.length - 1,
    })
    expect(await verdict(all.subarray(0, photo.length + padding + 20))).toMatchObject({ kind: 'missing' })
    expect(await verdict(photo, zeros(padding + film.length))).toMatchObject({
      kind: 'missing',
      code: 'unwritten',
    })
    expect(await verdict(all.subarray(0, -2000), zeros(2000))).toMatchObject({
      kind: 'missing',
      code: 'unwritten',
    })
    const late = bytes(photo, zeros(padding + 3000), film.subarray(3000))
    expect((await verdict(late)).kind).toBe('missing')
  })

  test.each([
    ['a motion photo', xmp('<GCamera:MotionPhoto="1">')],
    ['one with a directory', xmp(directory(''))],
    ['a directory that is cut', xmp('<Container:Directory')],
  ])('without a length need not be there: %s', async (_, before) => {
    expect(await verdict(drawn({ before }))).toEqual(CLOSED)
    expect(await verdict(drawn({ before }), film)).toEqual(FOLLOWED)
  })

  test('may end in zeros, where a camera’s data stand behind it', async () => {
    const photo = drawn({ before: xmp(directory(`Item:Length="${film.length}"`)) })
    const padded = bytes(photo, zeros(40), film.subarray(100), zeros(100))
    expect(await verdict(padded, 'SEFT')).toEqual(FOLLOWED)
    expect(await verdict(padded)).toMatchObject({ kind: 'missing', code: 'unwritten' })
  })

  test('stands behind a gain map, which index and directory name', async () => {
    const map = drawn({ width: 40, height: 30 })
    const items = [map.length, film.length].map(
      length => `<rdf:li><Container:Item Item:Length="${length}"/></rdf:li>`,
    )
    const photo = drawn({
      before: xmp(`<Container:Directory><rdf:Seq><rdf:li/>${items.join('')}</rdf:Seq></Container:Directory>`),
    })
    expect(await verdict(photo, map, film)).toEqual(FOLLOWED)
    expect(await verdict(photo, map)).toMatchObject({ kind: 'odd', code: 'announced' })
    expect(await verdict(photo, map, film.subarray(0, 90))).toMatchObject({ kind: 'missing', code: 'cut' })
    expect(await verdict(photo, map.subarray(0, -40))).toMatchObject({ kind: 'missing' })
  })
})
