import type { ListedImage } from '../../protocol/records.ts'
import { albumListed } from '../../records/albums.ts'
import { failing, type HostFailure, type ImageHost, type ListPage, type Outcome } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because } from '../../words/reasons.ts'
import { type Album, albumPathOf } from '../album.ts'
import { type PlacedWalk, walkEverything, walkWhole } from './walk.ts'

/** A remote image that no record accounts for. `album`: the row of its album; null is the root. */
export type Stranger = ListedImage & { album: number | null }

interface Parts {
  synced: Synced
  host: ImageHost
}

/**
 * What albums hold on the host beside what is recorded. An old or a new state must not send again what is there: before
 * the first upload into an album since the start, its count on the host is compared with the records, and where they
 * differ it is walked whole. It lives as long as the process.
 */
export class AlbumContents {
  readonly #looks = new Map<number, Promise<Outcome<void>>>()
  /** Of the albums that were walked. */
  readonly #strangers = new Map<number, Map<string, Stranger[]>>()

  /** Looks at an album, once. Answers why it could not. */
  lookAt(parts: Parts, album: Album, signal: AbortSignal): Promise<Outcome<void>> {
    const key = album?.id ?? 0
    const look = this.#looks.get(key) ?? this.#look(parts, album, signal)
    this.#looks.set(key, look)
    return look.then(looked => {
      if (!looked.ok && this.#looks.get(key) === look) this.#looks.delete(key)
      return looked
    })
  }

  /** The images in an album that no record accounts for and that bear this name, or none. */
  strangers(album: Album, name: string): readonly Stranger[] {
    return this.#strangers.get(album?.id ?? 0)?.get(name.normalize()) ?? []
  }

  /** It is accounted for from here on. Answers whether nobody else was quicker. */
  claim(album: Album, stranger: Stranger): boolean {
    const named = this.#strangers.get(album?.id ?? 0)
    const name = stranger.name?.normalize() ?? NAMELESS
    const images = named?.get(name) ?? []
    if (!images.includes(stranger)) return false
    const left = images.filter(image => image !== stranger)
    if (left.length > 0) named!.set(name, left)
    else named!.delete(name)
    return true
  }

  /** Nothing is in an album that was made just now. */
  expectEmpty(album: AlbumRow): void {
    this.#looks.set(album.id, Promise.resolve({ ok: true, value: undefined }))
    this.#strangers.delete(album.id)
  }

  /** What was seen of an album, by its row, is no longer so. */
  forget(album: number | null): void {
    this.#looks.delete(album ?? 0)
    this.#strangers.delete(album ?? 0)
  }

  forgetAll(): void {
    this.#looks.clear()
    this.#strangers.clear()
  }

  async #look({ synced, host }: Parts, album: Album, signal: AbortSignal): Promise<Outcome<void>> {
    // What is uploaded without an album may be in the account's default album (§4.1), wherever that is.
    const everywhere = album === null && synced.meta.get('default_album') !== ''
    // What is not accounted for may be ours all the same: which images these are only a walk tells.
    if (!everywhere && synced.contents.unaccounted(album?.id ?? null) === 0) {
      const alike = await looksAsRecorded(synced, host, album, signal)
      if (!alike.ok) return withoutList(synced, alike.failure)
      if (alike.value) return { ok: true, value: undefined }
    }
    const walk = everywhere
      ? await walkEverything(host, signal)
      : await walkAlbumAlone(host, album?.remote_id ?? null, signal)
    if (!walk.ok) return withoutList(synced, walk.failure)
    if (!walk.value.settled) return { ok: false, failure: listingChanges }
    await this.#remember(synced, album, everywhere ? withoutMirrored(synced, walk.value) : walk.value)
    return { ok: true, value: undefined }
  }

  async #remember(synced: Synced, album: Album, walk: PlacedWalk): Promise<void> {
    const unaccounted = unaccountedIn(synced, walk.images)
    const here = unaccounted.filter(image => image.album === (album?.remote_id ?? null))
    const places = await synced.commit(tx => {
      tx.contents.put(album?.id ?? null, here.length)
      return album === null
        ? recordPlaces(tx, { ...walk, images: unaccounted })
        : new Map<string | null, number | null>([[album.remote_id, album.id]])
    })
    const strangers = unaccounted.map(image => ({ ...image, album: places.get(image.album) ?? null }))
    this.#strangers.set(
      album?.id ?? 0,
      Map.groupBy(strangers, ({ name }) => name?.normalize() ?? NAMELESS),
    )
  }
}

/**
 * Whether an album holds as many as are recorded, and its first and last page none that is not. A disk that was rolled
 * back to a snapshot, state and witness and all, tells nobody: as many may be there, but others. Hosts list by time, and
 * what came since then is at one of the ends.
 */
async function looksAsRecorded(
  synced: Synced,
  host: ImageHost,
  album: Album,
  signal: AbortSignal,
): Promise<Outcome<boolean>> {
  const list = (page: number) => host.list(album?.remote_id ?? null, page, signal)
  const first = await list(1)
  if (!first.ok) return first
  const { total_images, total_pages } = first.value.pagination
  const isKnown = ({ images }: ListPage) => unaccountedIn(synced, images).length === 0
  if (total_images !== synced.images.countInAlbum(album?.id ?? null) || !isKnown(first.value))
    return { ok: true, value: false }
  if (total_pages <= 1) return { ok: true, value: true }
  const last = await list(total_pages)
  return last.ok ? { ok: true, value: isKnown(last.value) } : last
}

/** Without the images of the albums that folders hang in: those are for the pictures of these folders. */
function withoutMirrored({ mirrors, folders }: Synced, walk: PlacedWalk): PlacedWalk {
  const mirrored = new Set(
    mirrors
      .all()
      .flatMap(({ id, album }) => folders.ofMirror(id).map(({ path }) => albumPathOf(album, path).join('/'))),
  )
  const byId = new Map(walk.albums.map(album => [album.id, album]))
  const pathOf = (id: string | null): string[] => {
    const album = id === null ? undefined : byId.get(id)
    return album ? [...pathOf(album.parent), album.name] : []
  }
  const isMirrored = (id: string | null) => id !== null && mirrored.has(pathOf(id).join('/'))
  return { ...walk, images: walk.images.filter(({ album }) => !isMirrored(album)) }
}

/** No file bears it. */
const NAMELESS = ''

async function walkAlbumAlone(
  host: ImageHost,
  album: string | null,
  signal: AbortSignal,
): Promise<Outcome<PlacedWalk>> {
  const walk = await walkWhole(host, album, signal)
  if (!walk.ok) return walk
  const { albums, images, ...how } = walk.value
  return {
    ok: true,
    value: {
      albums: albums.map(found => ({ ...found, parent: album })),
      images: images.map(image => ({ ...image, album })),
      ...how,
    },
  }
}

/** A plan that can't list can't tell: only records that are known to be old forbid to go on. */
function withoutList(synced: Synced, failure: HostFailure): Outcome<void> {
  if (failure.remedy !== 'plan' || synced.meta.get('restored') !== null) return { ok: false, failure }
  return { ok: true, value: undefined }
}

export const listingChanges: HostFailure = {
  remedy: 'later',
  endpoint: 'list',
  code: 'HOST_LISTING',
  ...failing(because('listing_changes')),
}

/** The listed images that no record of ours accounts for. What albumd deleted may be listed for a while. */
export function unaccountedIn<Image extends ListedImage>(
  { images, deleted }: Synced,
  listed: readonly Image[],
): Image[] {
  return listed.filter(({ id }) => !images.byRemoteId(id) && !deleted.has(id))
}

/** Whether the host lists images under the names that they were uploaded with, as far as ours show. */
export function namesAreKept({ images }: Synced, listed: readonly ListedImage[]): boolean {
  return listed.every(({ id, name }) => {
    const ours = name === undefined ? undefined : images.byRemoteId(id)
    return ours?.proof !== 'uploaded' || ours.name.normalize() === name!.normalize()
  })
}

/**
 * The rows of the albums that a walk found, by the host's ids; null is the root. Albums that hold images of it and have
 * no row get one, with those above.
 */
export function recordPlaces(tx: Tx, walk: PlacedWalk): Map<string | null, number | null> {
  const places = new Map<string | null, number | null>([[null, null]])
  const byId = new Map(walk.albums.map(album => [album.id, album]))

  function placeOf(id: string | null): number | null {
    const known = places.get(id)
    if (known !== undefined) return known
    const row = tx.albums.byRemoteId(id!)
    const { parent, name } = byId.get(id!)!
    const place = (row ?? albumListed(tx, placeOf(parent), name, id!)).id
    places.set(id, place)
    return place
  }

  for (const { album } of walk.images) placeOf(album)
  return places
}
