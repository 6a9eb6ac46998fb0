import { lstat } from 'node:fs/promises'
import { openPicture } from '../local/picture-file.ts'
import { fullPath } from '../sync/tree-path.ts'

/** Bytes. There is no smaller copy: a browser is not given more than this for a picture of a finger's width. */
const LARGEST = 24 * 2 ** 20
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
}

/** One transparent pixel: what is not shown leaves its frame as it is. */
const BLANK: Thumbnail = {
  mime: 'image/gif',
  bytes: new Uint8Array(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')),
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
  // It is hashed when it is opened: a large one would take its time.
  if ((await lstat(fullPath(mirror, path))).size > LARGEST) return null
  const open = await openPicture(mirror, path, () => new Error('it changed'))
  try {
    const { picture, look } = open
    if (!picture || !SHOWN.has(picture.mime) || look.size > LARGEST) return null
    const bytes = new Uint8Array(look.size)
    let at = 0
    for await (const chunk of open.chunks()) {
      bytes.set(chunk, at)
      at += chunk.byteLength
    }
    return { mime: picture.mime, bytes }
  } finally {
    await open.close()
  }
}
