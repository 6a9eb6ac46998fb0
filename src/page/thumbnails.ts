import type { FileHandle } from 'node:fs/promises'
import { openInside } from '../local/picture-file.ts'
import { readPicture } from '../protocol/picture/picture.ts'
import { EXIF_WITHIN, exifThumbnail } from './exif-thumbnail.ts'

/** Bytes. A larger file is not sent for a picture of a finger's width: of it, only what a camera has made smaller. */
const LARGEST = 2 * 2 ** 20
/** So many are read at a time. */
const AT_ONCE = 4

/** What browsers show. An SVG is left out: it is a document, which may hold scripts. */
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
  /** Of what the bytes are, not of the name. */
  mime: string
  bytes: Uint8Array<ArrayBuffer>
  /** Whether it will be the same when it is asked for again. */
  lasts: boolean
}

/** One transparent pixel: what is not shown leaves its frame as it is. */
const BLANK: Thumbnail = {
  mime: 'image/gif',
  bytes: new Uint8Array(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')),
  lasts: false,
}

/** Pictures from the mirrors' folders, in small frames. */
export class Thumbnails {
  #reading = 0
  readonly #waiting: (() => void)[] = []

  /**
   * The picture at `path` below the mirror's folder; both are albumd's own words, never a browser's. A blank one
   * where it can't be had or shown.
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
