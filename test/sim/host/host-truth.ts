import type { Timeline } from '../engine/virtual-clock.ts'

/** second: another machine with the same account, in histories of two machines. */
export type Actor = 'albumd' | 'second' | 'other'

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
  /** Albumd has sent a request to delete it, and knows of no refusal. */
  deletionAsked: boolean
  /** The host has answered that request, and keeps it all the same. */
  keptDeleted: boolean
  /** Another person has moved or renamed it there. */
  misplaced: boolean
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

/** What judges ask of the host. */
export interface Truth {
  readonly images: { get(id: string): TrueImage | undefined; values(): Iterable<TrueImage> }
  live(): TrueImage[]
  liveAlbums(): TrueAlbum[]
  album(id: string | null): TrueAlbum | null
}

/** What the host really holds and held, and who did it. */
export class HostTruth implements Truth {
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

/** Whether an image is there as far as albumd can know: nobody tells it what another person has taken. */
export function isBelievedThere({ gone }: TrueImage): boolean {
  return gone?.by !== 'albumd'
}

/** '' is the host's root. */
export function pathOfAlbum(album: TrueAlbum | null): string {
  if (album === null) return ''
  const above = pathOfAlbum(album.parent)
  return above === '' ? album.name : `${above}/${album.name}`
}

/** The truth as one of several machines sees it: what the other machines did, others did. */
export class TruthOf implements Truth {
  readonly #truth: HostTruth
  readonly #me: Actor
  readonly #seen = new WeakMap<object, object>()

  constructor(truth: HostTruth, me: Actor) {
    this.#truth = truth
    this.#me = me
  }

  readonly images = {
    get: (id: string) => {
      const image = this.#truth.images.get(id)
      return image && this.image(image)
    },
    values: () => [...this.#truth.images.values()].map(image => this.image(image)),
  }

  live(): TrueImage[] {
    return this.#truth.live().map(image => this.image(image))
  }

  liveAlbums(): TrueAlbum[] {
    return this.#truth.liveAlbums().map(album => this.#album(album)!)
  }

  album(id: string | null): TrueAlbum | null {
    return this.#album(this.#truth.album(id))
  }

  image(image: TrueImage): TrueImage {
    return this.#view(image, {
      by: { get: () => this.#by(image.by) },
      source: { get: () => (image.by === this.#me ? image.source : null) },
      album: { get: () => this.#album(image.album) },
      gone: { get: () => image.gone && { ...image.gone, by: this.#by(image.gone.by) } },
      deletionAsked: { value: false, writable: true },
    })
  }

  #album(album: TrueAlbum | null): TrueAlbum | null {
    if (album === null) return null
    return this.#view(album, {
      by: { get: () => this.#by(album.by) },
      parent: { get: () => this.#album(album.parent) },
    })
  }

  #by(by: Actor): Actor {
    return by === this.#me ? 'albumd' : 'other'
  }

  /** One object each, because judges compare them. */
  #view<T extends object>(thing: T, changes: PropertyDescriptorMap): T {
    const seen = this.#seen.get(thing) ?? Object.create(thing, changes)
    this.#seen.set(thing, seen)
    return seen as T
  }
}
