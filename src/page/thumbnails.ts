import type { FileHandle } from 'node:fs/promises'
import { openInside } from '../local/picture-file.ts'
import { readPicture } from '../protocol/picture/picture.ts'

/** Bytes. For a larger file the page shows only the small picture that a camera has put into the file. */
const LARGEST = 2 * 2 ** 20
/** How many files are read at a time. */
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

/** A picture's bytes, for a browser. */
export interface Thumbnail {
  /** Found from the bytes, not from the name. */
  mime: string
  bytes: Uint8Array<ArrayBuffer>
  /** Whether a browser may keep the picture, because a later request would get the same picture. */
  lasts: boolean
}

/** One transparent pixel. The page then shows an empty frame. */
const BLANK: Thumbnail = {
  mime: 'image/gif',
  bytes: new Uint8Array(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')),
  lasts: false,
}

/** Reads the small pictures of the page from the mirrors' folders. */
export class Thumbnails {
  #reading = 0
  readonly #waiting: (() => void)[] = []

  /**
   * The picture at `path` below the mirror's folder. Both must come from albumd's records, never from a browser. Answers
   * a blank picture where the file can't be read or shown.
   */
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
  const file = await openInside(mirror, path)
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return null
    const picture = await readPicture({
      size: stat.size,
      read: (offset, length) => readFrom(file, offset, length),
    })
    if (!picture || !SHOWN.has(picture.mime)) return null
    if (stat.size <= LARGEST)
      return { mime: picture.mime, bytes: await readFrom(file, 0, stat.size), lasts: true }
    const small = picture.format === 'jpeg' && exifThumbnail(await readFrom(file, 0, EXIF_WITHIN))
    return small ? { mime: picture.mime, bytes: small, lasts: true } : null
  } finally {
    await file.close()
  }
}

async function readFrom(file: FileHandle, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset)
  return buffer.subarray(0, bytesRead)
}

/** Bytes. Enough for an EXIF segment (64 KB at most) and the few bytes before it. */
export const EXIF_WITHIN = 80 * 1024

const EXIF = 0xe1
const SCAN = 0xda
const END = 0xd9

const ORIENTATION = 0x0112
const THUMBNAIL_AT = 0x0201
const THUMBNAIL_LENGTH = 0x0202
/** The size of one entry of an EXIF directory, in bytes. */
const ENTRY = 12
/** The type of two-byte values. The other values that are read here have four bytes. */
const SHORT = 3

/**
 * The small JPEG that a camera has put into a large JPEG, with the large picture's orientation. Null: there is none.
 * `head`: the first EXIF_WITHIN bytes of the large JPEG.
 */
export function exifThumbnail(head: Uint8Array): Uint8Array<ArrayBuffer> | null {
  try {
    const tiff = exifOf(head)
    return tiff && thumbnailIn(tiff)
  } catch (error) {
    // A damaged EXIF block may point behind its own end.
    if (error instanceof RangeError) return null
    throw error
  }
}

/** The EXIF block, which is built like a TIFF file (EXIF 2.32, 4.5.2). */
function exifOf(head: Uint8Array): DataView | null {
  const view = viewOf(head)
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1)
    const length = view.getUint16(at + 2)
    if (marker === SCAN || marker === END) return null
    const isExif = view.getUint32(at + 4) === 0x45786966 && view.getUint16(at + 8) === 0
    if (marker === EXIF && isExif) return viewOf(head.subarray(at + 10, at + 2 + length))
    at += 2 + length
  }
  return null
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The first directory describes the large picture. The second directory describes the small picture. */
function thumbnailIn(tiff: DataView): Uint8Array<ArrayBuffer> | null {
  const little = tiff.getUint16(0) === 0x4949
  const large = directoryAt(tiff, tiff.getUint32(4, little), little)
  if (large.next === 0) return null
  const small = directoryAt(tiff, large.next, little)
  const at = small.value(THUMBNAIL_AT)
  const length = small.value(THUMBNAIL_LENGTH)
  if (at === null || length === null || tiff.getUint16(at) !== 0xffd8) return null
  if (at + length > tiff.byteLength) return null
  const jpeg = new Uint8Array(tiff.buffer, tiff.byteOffset + at, length)
  return turned(jpeg, large.value(ORIENTATION) ?? 1)
}

function directoryAt(tiff: DataView, at: number, little: boolean) {
  const end = at + 2 + tiff.getUint16(at, little) * ENTRY
  return {
    /** The position of the next directory. 0: this is the last directory. */
    next: tiff.getUint32(end, little),
    value(tag: number): number | null {
      for (let entry = at + 2; entry < end; entry += ENTRY) {
        if (tiff.getUint16(entry, little) !== tag) continue
        const isShort = tiff.getUint16(entry + 2, little) === SHORT
        return isShort ? tiff.getUint16(entry + 8, little) : tiff.getUint32(entry + 8, little)
      }
      return null
    },
  }
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
