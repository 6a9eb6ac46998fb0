import type { Timeline } from '../engine/virtual-clock.ts'

export type Actor = 'albumd' | 'other'

/** An image that the host really had at some time. */
export interface TrueImage {
  id: string
  /** Null: in the host's root. */
  album: TrueAlbum | null
  name: string
  /** SHA-256 of its bytes, in hex. */
  hash: string
  bytes: Buffer
  /** As the host read them. */
  width: number | null
  height: number | null
  by: Actor
  /** The path that albumd sent it for; null for another person's. */
  source: string | null
  /** True time. */
  at: number
  /** When its sender asked for leave to send it. True time. */
  askedAt: number
  /** Lists don't show it before. */
  listedFrom: number
  /** Albumd has sent a request to delete it. */
  deletionAsked: boolean
  /** The host has answered that request, and keeps it all the same. */
  keptDeleted: boolean
  gone: { by: Actor; at: number } | null
  /** After its deletion: until when lists and delivery still have it. */
  shownUntil: number
}

export interface TrueAlbum {
  id: string
  parent: TrueAlbum | null
  name: string
  by: Actor
  /** True time. */
  at: number
  gone: boolean
}

/** What the host really holds and held, and who did it. */
export class HostTruth {
  readonly images = new Map<string, TrueImage>()
  readonly albums = new Map<string, TrueAlbum>()
  readonly #time: Timeline

  constructor(time: Timeline) {
    this.#time = time
  }

  live(): TrueImage[] {
    return [...this.images.values()].filter(image => image.gone === null)
  }

  liveAlbums(): TrueAlbum[] {
    return [...this.albums.values()].filter(album => !album.gone)
  }

  album(id: string | null): TrueAlbum | null {
    return id === null ? null : (this.albums.get(id) ?? null)
  }

  deleteImage(image: TrueImage, by: Actor, shownMs: number): void {
    image.gone = { by, at: this.#time.now }
    image.shownUntil = this.#time.now + shownMs
  }

  /** With all that is in it. Answers the images. */
  deleteAlbum(album: TrueAlbum, by: Actor): TrueImage[] {
    const inside = this.live().filter(image => isIn(image.album, album))
    for (const image of inside) this.deleteImage(image, by, 0)
    for (const other of this.albums.values()) if (isIn(other, album)) other.gone = true
    return inside
  }
}

/** Whether an album is another or lies in it. */
export function isIn(album: TrueAlbum | null, above: TrueAlbum): boolean {
  for (let at = album; at !== null; at = at.parent) if (at === above) return true
  return false
}

/** '' is the host's root. */
export function pathOfAlbum(album: TrueAlbum | null): string {
  if (album === null) return ''
  const above = pathOfAlbum(album.parent)
  return above === '' ? album.name : `${above}/${album.name}`
}
