import { deflateSync } from 'node:zlib'
import { type Bytes, be16, be32, bytes, le16, le32, pngChunk, webpChunk, webpOf } from '../bytes.ts'
import { drawn, mpfSegment, segment } from '../jpeg/jpegs.ts'

/** What must not be in anything that is made. */
export const PLACES = [
  'PLACE-GPS',
  'PLACE-MAKER',
  'PLACE-XMP',
  'PLACE-IPTC',
  'PLACE-THUMB',
  'PLACE-TEXT',
  'PLACE-FILM',
]
/** What `location` leaves. */
export const TAKEN = ['TheMaker', 'TheModel', '2026:05:03 09:41:12', 'TheArtist', 'TheRights', 'TheLens']

/** How numbers are written. */
export interface Order {
  u16: (value: number) => Buffer
  u32: (value: number) => Buffer
  head: string
}
export const LITTLE: Order = { u16: le16, u32: le32, head: 'II*\0' }
export const BIG: Order = { u16: be16, u32: be32, head: 'MM\0*' }

/** An entry: a text, bytes of unknown meaning, one number, several of two or four bytes, pairs of numbers, or entries of a
 * directory below. */
export type Value =
  | string
  | Buffer
  | { short: number | number[] }
  | { long: number | number[] }
  | { rational: [number, number] }
  | { below: Entries }
export type Entries = Record<number, Value>

/** A TIFF that begins at byte 8 with its first directory; `next`: that of the next. */
export function tiffOf(order: Order, entries: Entries, { at = 8, next = 0 } = {}): Buffer {
  const { u16, u32, head } = order
  const start = at === 8 ? bytes(head, u32(8)) : Buffer.alloc(0)
  const tags = Object.keys(entries).map(Number)
  let place = at + 2 + 12 * tags.length + 4
  const behind: Buffer[] = []
  const rows = tags.map(tag => {
    const { type, count, value } = encoded(order, entries[tag]!, place)
    const isInside = value.byteLength <= 4 && type !== BELOW
    const row = bytes(u16(tag), u16(Math.min(type, 13)), u32(count), isInside ? padded(value, 4) : u32(place))
    if (isInside) return row
    behind.push(padded(value, value.byteLength + (value.byteLength % 2)))
    place += behind.at(-1)!.byteLength
    return row
  })
  return bytes(start, u16(tags.length), ...rows, u32(next), ...behind)
}

const BELOW = 99

function encoded(order: Order, value: Value, place: number): { type: number; count: number; value: Buffer } {
  const { u16, u32 } = order
  if (typeof value === 'string') return { type: 2, count: value.length + 1, value: bytes(value, 0) }
  if (Buffer.isBuffer(value)) return { type: 7, count: value.byteLength, value }
  if ('below' in value) return { type: BELOW, count: 1, value: tiffOf(order, value.below, { at: place }) }
  if ('rational' in value) return { type: 5, count: 1, value: bytes(...value.rational.map(u32)) }
  const [type, numbers] = 'short' in value ? [3, [value.short].flat()] : [4, [value.long].flat()]
  return { type, count: numbers.length, value: Buffer.concat(numbers.map(type === 3 ? u16 : u32)) }
}

function padded(value: Buffer, length: number): Buffer {
  return Buffer.concat([value], length)
}

/** What a camera notes, with places wherever they may stand. */
export function cameraTags(orientation: number): Entries {
  return {
    270: 'PLACE-TEXT',
    271: 'TheMaker',
    272: 'TheModel',
    274: { short: orientation },
    305: 'PLACE-TEXT',
    306: '2026:05:03 09:41:12',
    315: 'TheArtist',
    700: Buffer.from('PLACE-XMP'),
    33432: 'TheRights',
    34665: {
      below: {
        33434: { rational: [1, 250] },
        34855: { short: 400 },
        36880: 'PLACE-TEXT',
        37385: { short: 16 },
        37500: Buffer.from('PLACE-MAKER'),
        37510: Buffer.from('PLACE-TEXT'),
        42033: 'PLACE-TEXT',
        42036: 'TheLens',
      },
    },
    34853: { below: { 1: 'N', 2: { rational: [52, 1] }, 27: Buffer.from('PLACE-GPS') } },
  }
}

/** EXIF without its name in front. */
export function camera(orientation = 6, order = LITTLE): Buffer {
  return tiffOf(order, cameraTags(orientation))
}

export const ICC = bytes('ICC_PROFILE\0', 1, 1, 'a profile of colours')

/** A JPEG with all that phones and programs put into one. */
export function fullJpeg(exif = camera()): Buffer {
  const second = drawn({ width: 40, height: 30 })
  const thumbnail = bytes('JFIF\0', 1, 2, 1, be16(72), be16(72), 4, 1, 'PLACE-THUMB!')
  const before = bytes(
    segment(0xe0, thumbnail),
    segment(0xe1, 'Exif\0\0', exif),
    segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>PLACE-XMP</x:xmpmeta>'),
    segment(0xed, 'Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x0aPLACE-IPTC'),
    segment(0xe2, ICC),
    segment(0xee, 'Adobe', be16(100), be16(0), be16(0), 1, 'PLACE-TEXT'),
    segment(0xe0, 'JFXX\0\x10PLACE-THUMB'),
    segment(0xfe, 'PLACE-TEXT'),
  )
  const index = mpfSegment(8, second.length)
  const first = drawn({ before: bytes(before, index) })
  // Offsets count from the index behind its name.
  const at = first.length - (first.indexOf('MPF\0') - 4)
  return bytes(drawn({ before: bytes(before, mpfSegment(at, second.length)) }), second, 'ftypmp42 PLACE-FILM')
}

const ROWS = Buffer.from(Array.from({ length: 30 * 41 }, (_, at) => (at % 41 === 0 ? 0 : (at * at) % 251)))
const STREAM = deflateSync(ROWS)

/** A PNG of two frames with all that programs put into one. */
export function fullPng(exif = camera()): Buffer {
  const frame = (n: number) =>
    pngChunk('fcTL', be32(n), be32(40), be32(30), be32(0), be32(0), be16(1), be16(9), 0, 0)
  return bytes(
    '\x89PNG\r\n\x1a\n',
    pngChunk('IHDR', be32(40), be32(30), 8, 0, 0, 0, 0),
    pngChunk('iCCP', 'p\0\0', deflateSync(Buffer.from('a profile of colours'))),
    pngChunk('pHYs', be32(2835), be32(2835), 1),
    pngChunk('tEXt', 'Comment\0PLACE-TEXT'),
    pngChunk('iTXt', 'XML:com.adobe.xmp\0\0\0\0\0PLACE-XMP'),
    pngChunk('zTXt', 'Raw profile type iptc\0\0', deflateSync(Buffer.from('PLACE-IPTC'))),
    pngChunk('tIME', be16(2026), 5, 3, 9, 41, 12),
    pngChunk('acTL', be32(2), be32(0)),
    frame(0),
    pngChunk('IDAT', STREAM.subarray(0, 100)),
    pngChunk('IDAT', STREAM.subarray(100)),
    frame(1),
    pngChunk('fdAT', be32(2), STREAM),
    pngChunk('eXIf', exif),
    pngChunk('caBX', 'PLACE-TEXT'),
    pngChunk('IEND'),
    'PLACE-FILM',
  )
}

/** An animated GIF of two images. */
export function fullGif(): Buffer {
  const application = (name: string, ...data: Bytes) => bytes(0x21, 0xff, 11, name, ...data)
  const image = bytes(0x2c, le16(0), le16(0), le16(4), le16(4), 0, 2, 2, 0x84, 0x51, 0)
  const control = bytes(0x21, 0xf9, 4, 0, le16(5), 0, 0)
  return bytes(
    'GIF89a',
    ...[le16(4), le16(4), 0x80, 0, 0, 0, 0, 0, 9, 9, 9],
    application('NETSCAPE2.0', 3, 1, le16(0), 0),
    application('ICCRGBG1012', 3, 'icc', 0),
    application('XMP DataXMP', 9, 'PLACE-XMP', 0),
    bytes(0x21, 0xfe, 10, 'PLACE-TEXT', 0),
    ...[control, image, 0, 0, control],
    bytes(0x21, 0xfe, 10, 'PLACE-TEXT', 0),
    ...[image, 0x3b],
    'PLACE-FILM',
  )
}

const pixels = (length: number) => Buffer.from(Array.from({ length }, (_, at) => 1 + ((at * 7) % 250)))
const FLAGS = { icc: 0x20, exif: 0x08, xmp: 0x04, animation: 0x02 }

/** An animated WebP of two frames; in the second, something that is not known. */
export function fullWebp(exif = camera()): Buffer {
  const size = bytes(39, 0, 0, 29, 0, 0)
  const frame = (...chunks: Bytes) => webpChunk('ANMF', Buffer.alloc(6), size, bytes(50, 0, 0, 0), ...chunks)
  const flags = FLAGS.icc | FLAGS.exif | FLAGS.xmp | FLAGS.animation
  return bytes(
    webpOf(
      webpChunk('VP8X', le32(flags), size),
      webpChunk('ICCP', 'a profile of colours'),
      webpChunk('ANIM', le32(0xffffffff), le16(0)),
      frame(webpChunk('VP8 ', pixels(101))),
      frame(webpChunk('ALPH', 1, pixels(20)), webpChunk('VP8 ', pixels(60)), webpChunk('note', 'PLACE-TEXT')),
      webpChunk('EXIF', exif),
      webpChunk('XMP ', 'PLACE-XMP'),
    ),
    'PLACE-FILM',
  )
}

/** A TIFF of two strips, with a copy of half its size below, and a second page. Its texts lie among its pixels. */
export function fullTiff(order = LITTLE, more: Entries = {}): Buffer {
  const image = (at: number, below: number): Entries => ({
    254: { long: 0 },
    256: { short: 10 },
    257: { short: 10 },
    258: { short: 8 },
    259: { short: 1 },
    262: { short: 1 },
    273: { long: [at, at + 50] },
    277: { short: 1 },
    278: { short: 5 },
    279: { long: [50, 50] },
    330: { long: below },
    34377: Buffer.from('PLACE-IPTC'),
  })
  const first = { ...image(2000, 1500), ...cameraTags(6), ...more }
  const sorted = Object.fromEntries(Object.entries(first).sort(([a], [b]) => Number(a) - Number(b)))
  const start = tiffOf(order, sorted, { next: 1700 })
  const { 330: _, ...page } = image(2100, 0)
  const below = tiffOf(order, page, { at: 1500 })
  const second = tiffOf(order, { ...page, 285: 'PLACE-TEXT' }, { at: 1702 })
  const file = Buffer.alloc(2300)
  file.set(start)
  file.set(below, 1500)
  // An offset of a directory is even; two bytes before it belong to nothing.
  file.set(second, 1702)
  order.u32(1702).copy(file, 8 + 2 + 12 * Object.keys(sorted).length)
  file.set(pixels(200), 2000)
  file.write('PLACE-MAKER', 2250)
  return file
}
