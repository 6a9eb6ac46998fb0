import { createReadStream, fstatSync } from 'node:fs'
import { Readable } from 'node:stream'
import { type OpenFile, openInside } from '../local/open-file.ts'
import type { ByteSource } from '../protocol/byte-reader.ts'
import { inspectPicture, readPicture } from '../protocol/picture/picture.ts'

/** A file with more bytes is not read into memory: the page shows the small picture that a camera has put into the file. */
const LARGEST = 2 * 2 ** 20
/** Where there is no small picture, as in a screenshot, a file of up to so many bytes is sent as it is, piece by piece. */
const LARGEST_SENT = 32 * 2 ** 20
const PIECE = 256 * 1024
const AT_ONCE = 4

/** Formats that browsers show. SVG is left out, because an SVG may hold scripts. */
const SHOWN: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/bmp',
  'image/x-icon',
  'image/vnd.microsoft.icon',
])

export interface Thumbnail {
  /** Found from the bytes, not from the name. */
  mime: string
  bytes: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  /** Whether a browser may keep the picture, because a later request would get the same picture. */
  lasts: boolean
}

/** A picture of one transparent pixel, for which the page shows an empty frame. */
export const BLANK = {
  mime: 'image/gif',
  bytes: new Uint8Array(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')),
  lasts: false,
} satisfies Thumbnail

/** Reads the small pictures of the page from the mirrors' folders. */
export class Thumbnails {
  #reading = 0
  readonly #waiting: (() => void)[] = []

  /** The picture at `path` below the mirror's folder. `mirror` and `path` must come from albumd's records, never from a
   * browser. Answers a blank picture where the file can't be read or shown. */
  async read(mirror: string, path: string): Promise<Thumbnail> {
    if (this.#reading >= AT_ONCE) await new Promise<void>(go => this.#waiting.push(go))
    this.#reading++
    try {
      return (await readShown(mirror, path)) ?? BLANK
    } catch {
      return BLANK
    } finally {
      this.#reading--
      this.#waiting.shift()?.()
    }
  }
}

async function readShown(mirror: string, path: string): Promise<Thumbnail | null> {
  const file = openInside(mirror, path)
  let isSent = false
  try {
    const stat = fstatSync(file.fd)
    if (!stat.isFile()) return null
    const { size } = stat
    const source = { size, read: (offset: number, length: number) => readFrom(file, offset, length) }
    const picture = await readPicture(source)
    if (!picture || !SHOWN.has(picture.mime)) return null
    const shown = (bytes: Thumbnail['bytes']) => ({ mime: picture.mime, bytes, lasts: true })
    if (size <= LARGEST) return shown(await readFrom(file, 0, size))
    const small = picture.format === 'jpeg' && (await smallPicture(source))
    if (small) return shown(small)
    if (size > LARGEST_SENT) return null
    isSent = true
    // It closes the file at its end, when reading fails, and when nobody reads it any more.
    const pieces = createReadStream('', { fd: file.fd, end: size - 1, highWaterMark: PIECE })
    return shown(Readable.toWeb(pieces) as ReadableStream<Uint8Array>)
  } finally {
    if (!isSent) file.close()
  }
}

async function readFrom(file: OpenFile, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length)
  return bytes.subarray(0, await file.read(bytes, offset))
}

/** The small JPEG that a camera has put into a large JPEG, turned as the large picture is. Null: there is none. */
export async function smallPicture(source: ByteSource): Promise<Uint8Array<ArrayBuffer> | null> {
  const { orientation = 1, thumbnail } = (await inspectPicture(source, 'size')).exif ?? {}
  if (!thumbnail || thumbnail.length > LARGEST) return null
  const jpeg = await source.read(thumbnail.at, thumbnail.length)
  return jpeg[0] === 0xff && jpeg[1] === 0xd8 ? turned(jpeg, orientation) : null
}

/** Adds an EXIF block with the orientation, because the small picture seldom has an EXIF block. */
function turned(jpeg: Uint8Array, orientation: number): Uint8Array<ArrayBuffer> {
  const exif = Buffer.from(
    'ffe10022457869660000' + '4d4d002a00000008' + '0001' + '011200030000000100000000' + '00000000',
    'hex',
  )
  exif.writeUInt16BE(orientation, 28)
  return new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]))
}
