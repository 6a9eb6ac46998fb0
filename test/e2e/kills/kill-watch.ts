import { basename } from 'node:path'
import type { Passed } from '../stage/fault-proxy.ts'
import { sha256 } from '../stage/stage.ts'

interface Image {
  hash: string
  /** Below the mirror's album. */
  path: string
  album: string
}

/** Watches through the proxy what is deleted. `standing`: the pictures that were there, as they are, before the process
 * at work began, by path: it has seen them all before it may delete anything. */
export class DeletionWatch {
  /** In words; empty where all was well. */
  readonly violations: string[] = []
  /** How often the host did something, by kind. */
  readonly done = new Map<string, number>()
  readonly #standing: () => Map<string, string>
  readonly #paths = new Map<string, string>([['', '']])
  readonly #promised = new Map<string, { name: string; album: string }>()
  /** As they came. */
  readonly #images = new Map<string, Image>()

  constructor(standing: () => Map<string, string>) {
    this.#standing = standing
  }

  /** Before the host is asked. */
  seen({ kind, url }: Passed): void {
    if (kind !== 'delete') return
    const query = new URL(url, 'http://proxy').searchParams
    const image = query.get('img')
    const album = query.get('album')
    if (image !== null) this.#checkImage(image)
    if (album !== null) this.#checkAlbum(album)
  }

  served({ kind, url, body, answer }: Passed): void {
    if (answer?.status !== 200 || kind === 'list' || kind === 'deliver') return
    this.done.set(kind, (this.done.get(kind) ?? 0) + 1)
    const told = JSON.parse(answer.body.toString())
    switch (kind) {
      case 'create_album': {
        const { name, parent_album } = JSON.parse(body.toString())
        this.#paths.set(told.data.album.id, `${this.#paths.get(parent_album ?? '')}/${name}`)
        return
      }
      case 'upload': {
        const { file_name, album_id } = JSON.parse(body.toString())
        this.#promised.set(basename(told.data.cdn_url), { name: file_name, album: album_id ?? '' })
        return
      }
      case 'send': {
        const { name, album } = this.#promised.get(told.image_id)!
        const path = `${this.#paths.get(album)}/${name}`.slice('/Photos/'.length)
        this.#images.set(told.image_id, { hash: sha256(filePart(body)), path, album })
        return
      }
      case 'delete':
        this.#images.delete(new URL(url, 'http://proxy').searchParams.get('img') ?? '')
    }
  }

  #checkImage(id: string): void {
    const image = this.#images.get(id)
    // Deleted before, and asked for again: its answer was lost.
    if (!image) return
    const ids = [...this.#images.keys()]
    const others = [...this.#images.values()].toSpliced(ids.indexOf(id), 1)
    const later = new Set([...this.#images.values()].slice(ids.indexOf(id) + 1))
    for (const [path, hash] of this.#standing()) {
      if (hash === image.hash && !others.some(other => other.hash === hash))
        this.violations.push(`the last image of ${path}'s bytes was deleted (uploaded as ${image.path})`)
      // Of two old versions the older may go first: the newer stands in for it until the picture's bytes are there.
      const standsIn = (other: Image) => other.path === path && (other.hash === hash || later.has(other))
      if (path === image.path && !others.some(standsIn))
        this.violations.push(`the old image of ${path} was deleted before the new one was there`)
    }
  }

  #checkAlbum(id: string): void {
    for (const { album, path } of this.#images.values())
      if (album === id) this.violations.push(`an album was deleted with the image of ${path} in it`)
  }
}

/** The bytes of a form's one part. */
function filePart(body: Buffer): Buffer {
  const head = body.indexOf('\r\n\r\n')
  const boundary = body.subarray(0, body.indexOf('\r\n'))
  return body.subarray(head + 4, body.lastIndexOf(boundary) - 2)
}

/** Chance from a seed (mulberry32): the same seed, the same choices. */
export interface Chance {
  /** A whole number from 0 up to but without `below`. */
  below(below: number): number
  /** One of them; undefined where there are none. */
  of<T>(things: readonly T[]): T | undefined
}

export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return { below, of: things => things[below(things.length)] }
}
