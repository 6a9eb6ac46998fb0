import { HOUR_MS, type Stopwatch } from '../../protocol/clock.ts'
import type { ListedAlbum, ListedImage } from '../../protocol/records.ts'
import {
  type HostFailure,
  hostWith,
  type ImageHost,
  type Lister,
  type ListPage,
  type Outcome,
} from '../../remote/host.ts'
import type { Records, Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because } from '../../words/reasons.ts'
import { changesOf } from './changed-name.ts'

/** What the host lists in an album (§4.4). Each entry names the album that holds it by the host's id; null is the root. */
export interface Walk {
  albums: (ListedAlbum & { parent: string | null })[]
  images: (ListedImage & { album: string | null })[]
  /** Whether these are all images of the album. False: the album may hold more. */
  complete: boolean
  /** Whether a page showed an image again. Then the order has changed during the walk, and other images were missed. */
  repeats: boolean
}

/** The most entries of a walk. Nobody has so many in an album, and a listing without end would fill the memory. */
const ENTRIES_MOST = 1_000_000
/** How often an album is walked while others change it. */
const TRIES = 3
/** After how many walks without a new image none is missing, although the host lists in no fixed order. */
const QUIET_WALKS = 5
const WALKS_MOST = 20

/** Reads every page of an album. Null is the root. Ends at a page with nothing new, because `total_pages` may be wrong. */
export async function walkAlbum(
  host: Lister,
  album: string | null,
  signal: AbortSignal,
  most = ENTRIES_MOST,
): Promise<Outcome<Walk>> {
  const albums = new Map<string, Walk['albums'][number]>()
  const images = new Map<string, Walk['images'][number]>()
  let atFirst: number | null = null
  let repeats = false
  const walked = (complete: boolean): Outcome<Walk> => ({
    ok: true,
    value: { albums: [...albums.values()], images: [...images.values()], complete, repeats },
  })
  for (let page = 1; ; page++) {
    const listed = await host.list(album, page, signal)
    // Images were deleted during the walk, so there are fewer pages. The album itself is not gone.
    if (!listed.ok && page > 1 && listed.failure.remedy === 'gone') return walked(false)
    if (!listed.ok) return listed
    const { total_pages, total_images } = listed.value.pagination
    atFirst ??= total_images
    const before = albums.size + images.size
    for (const found of listed.value.albums) albums.set(found.id, { ...found, parent: album })
    repeats ||= listed.value.images.some(({ id }) => images.has(id))
    for (const found of listed.value.images) images.set(found.id, { ...found, album })
    if (albums.size + images.size > most) return { ok: false, failure: withoutEnd }
    const bringsNew = albums.size + images.size > before
    if (bringsNew && page < total_pages) continue
    // If the counts differ, images came or went during the walk, and others may have moved from page to page.
    return walked(images.size === total_images && atFirst === total_images)
  }
}

const unclear = { remedy: 'later', endpoint: 'list', code: 'HOST_LISTING' } as const
const withoutEnd: HostFailure = { ...unclear, message: because('listing_endless', { most: ENTRIES_MOST }) }
export const listingChanges: HostFailure = { ...unclear, message: because('listing_changes') }

/** Whether a listing shows what is recorded in this album. Some hosts list the root instead of an album that is gone, and what is
 * recorded in it may lie in the root. `root`: what the root lists, where that was asked. */
export function showsItsOwn(
  { images, albums }: Records,
  { id }: AlbumRow,
  shown: Pick<Walk, 'images' | 'albums'> | ListPage,
  root?: ListPage,
): boolean {
  const inRoot = new Set([...(root?.images ?? []), ...(root?.albums ?? [])].map(entry => entry.id))
  return (
    shown.images.some(image => !inRoot.has(image.id) && images.byRemoteId(image.id)?.album === id) ||
    shown.albums.some(album => !inRoot.has(album.id) && albums.byRemoteId(album.id)?.parent === id)
  )
}

/** Those of these albums that the host does not list in `parent`. Most hosts show all albums on the first page. */
export async function unlistedIn(
  host: Lister,
  parent: string | null,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Outcome<string[]>> {
  const without = (albums: readonly { id: string }[]) => {
    const shown = new Set(albums.map(({ id }) => id))
    return ids.filter(id => !shown.has(id))
  }
  const first = await host.list(parent, 1, signal)
  if (!first.ok) return first
  if (without(first.value.albums).length === 0) return { ok: true, value: [] }
  const walk = await walkWhole(host, parent, signal)
  if (!walk.ok) return walk
  return walk.value.settled
    ? { ok: true, value: without(walk.value.albums) }
    : { ok: false, failure: listingChanges }
}

/** What several walks have shown together. Each walk is followed by another one while it is not complete. */
export interface WholeWalk extends Walk {
  /** Whether the last walk was complete, or further walks showed nothing new although the host counts more images. */
  settled: boolean
  /** Whether the first walk was complete. */
  atOnce: boolean
}

export async function walkWhole(
  host: Lister,
  album: string | null,
  signal: AbortSignal,
): Promise<Outcome<WholeWalk>> {
  const walks: Walk[] = []
  for (;;) {
    const walk = await walkAlbum(host, album, signal)
    if (!walk.ok) return walk
    walks.push(walk.value)
    if (walk.value.complete)
      return { ok: true, value: { ...walk.value, settled: true, atOnce: walks.length === 1 } }
    const isUnordered = walks.some(({ repeats }) => repeats)
    const settled = isUnordered ? isQuiet(walks) : walks.length > 1 && showTheSame(walks.at(-2)!, walk.value)
    if (settled || walks.length === (isUnordered ? WALKS_MOST : TRIES))
      return { ok: true, value: { ...together(walks), settled, atOnce: false } }
  }
}

function isQuiet(walks: readonly Walk[]): boolean {
  const before = walks.slice(0, -QUIET_WALKS)
  return before.length > 0 && showTheSame(together(before), together(walks))
}

/** All that the walks showed, because each of them may have missed something. */
function together(walks: readonly Walk[]): Walk {
  const albums = new Map(walks.flatMap(walk => walk.albums.map(album => [album.id, album])))
  const images = new Map(walks.flatMap(walk => walk.images.map(image => [image.id, image])))
  return { albums: [...albums.values()], images: [...images.values()], complete: false, repeats: true }
}

function showTheSame(one: Walk, other: Walk): boolean {
  const idsOf = ({ albums, images }: Walk) => new Set([...albums, ...images].map(({ id }) => id))
  const ids = idsOf(one)
  const others = idsOf(other)
  return ids.size === others.size && [...ids].every(id => others.has(id))
}

/** Walks `top` and every album below it. Null is the root. Fails when there are more than `albumsMost` albums. */
export async function walkEverything(
  host: Lister,
  signal: AbortSignal,
  top: string | null = null,
  albumsMost = ENTRIES_MOST,
): Promise<Outcome<WholeWalk>> {
  const everything: WholeWalk = {
    albums: [],
    images: [],
    complete: true,
    repeats: false,
    settled: true,
    atOnce: true,
  }
  /** A host may list an image in the albums above its own too. Those are walked first, so the last entry names its own. */
  const images = new Map<string, Walk['images'][number]>()
  const parents = [top]
  const seen = new Set(parents)
  for (const parent of parents) {
    const walk = await walkWhole(host, parent, signal)
    // Somebody has deleted the album since the walk of its parent.
    if (!walk.ok && walk.failure.remedy === 'gone' && parent !== top) continue
    if (!walk.ok) return walk
    everything.complete &&= walk.value.complete
    everything.settled &&= walk.value.settled
    everything.atOnce &&= walk.value.atOnce
    for (const image of walk.value.images) images.set(image.id, image)
    for (const album of walk.value.albums) {
      if (seen.has(album.id)) continue
      seen.add(album.id)
      everything.albums.push(album)
      parents.push(album.id)
    }
    if (parents.length > albumsMost) return { ok: false, failure: withoutEnd }
  }
  return { ok: true, value: { ...everything, images: [...images.values()] } }
}

type AlbumsByName = ReadonlyMap<string, readonly ListedAlbum[]>

/** The albums that the host lists in each parent (§4.4), walked once. Parents are named by the host's ids. Null: the root. */
export class AlbumListings {
  readonly #host: ImageHost
  readonly #walks = new Map<string | null, Promise<Outcome<AlbumsByName>>>()

  constructor(host: ImageHost) {
    this.#host = host
  }

  /** The albums of this name, else those whose names differ only in Unicode form and blanks around, else those whose names the
   * host may have made of it. After a failed walk, the next call walks again. */
  async named(
    parent: string | null,
    name: string,
    signal: AbortSignal,
  ): Promise<Outcome<readonly ListedAlbum[]>> {
    const walked = await (this.#walks.get(parent) ?? this.#walk(parent, signal))
    if (!walked.ok) return walked
    const those = (isNamed: (other: string) => boolean) =>
      [...walked.value].flatMap(([other, twins]) => (isNamed(other) ? twins : []))
    const alike = walked.value.get(name) ?? those(other => plainName(other) === plainName(name))
    return { ok: true, value: alike.length > 0 ? alike : those(changesOf(name)) }
  }

  /** Whether the walk of `parent` showed an album with this id, under whatever name. */
  async showed(parent: string | null, id: string): Promise<boolean> {
    const walked = await this.#walks.get(parent)
    if (!walked?.ok) return false
    return [...walked.value.values()].some(twins => twins.some(album => album.id === id))
  }

  /** Notes that an album was created just now. It is empty, so it need not be walked. */
  expectEmpty(album: string): void {
    this.#walks.set(album, Promise.resolve({ ok: true, value: new Map() }))
  }

  /** Makes the next call for `parent` walk it again. */
  forget(parent: string | null): void {
    this.#walks.delete(parent)
  }

  async #walk(parent: string | null, signal: AbortSignal): Promise<Outcome<AlbumsByName>> {
    const walk = this.#albumsIn(parent, signal)
    this.#walks.set(parent, walk)
    const walked = await walk
    if (!walked.ok && this.#walks.get(parent) === walk) this.#walks.delete(parent)
    return walked
  }

  async #albumsIn(parent: string | null, signal: AbortSignal): Promise<Outcome<AlbumsByName>> {
    const walk = await walkWhole(this.#host, parent, signal)
    if (walk.ok && !walk.value.settled) return { ok: false, failure: listingChanges }
    return walk.ok ? { ok: true, value: Map.groupBy(walk.value.albums, ({ name }) => name) } : walk
  }
}

/** The name without what hosts may change in a listing: its Unicode form, and blanks around it. */
export function plainName(name: string): string {
  return name.normalize().trim()
}

/** For how long a listed album is not looked for again. A host may refuse an album that it lists, once for each picture. */
const BELIEVED = HOUR_MS

/** Makes a refused request fail with the remedy `gone` when its album is gone. §4 names no code for that: a person deletes an
 * album, and the next upload gets FORBIDDEN. So after a refusal the parent's listing is read. */
export function tellingLostAlbums(host: ImageHost, { albums }: Synced, clock: Stopwatch): ImageHost {
  /** Until when an album that was listed is not looked for again, by the host's id. */
  const listed = new Map<string, number>()

  async function isLost(id: string, signal: AbortSignal): Promise<boolean> {
    const album = albums.byRemoteId(id)
    const now = clock.monotonic()
    if (!album || now < (listed.get(id) ?? Number.NEGATIVE_INFINITY)) return false
    const above = album.parent === null ? null : albums.byId(album.parent)!.remote_id
    const unlisted = await unlistedIn(telling, above, [id], signal)
    if (!unlisted.ok) return unlisted.failure.remedy === 'gone' && above !== null
    if (unlisted.value.length > 0) return true
    listed.set(id, now + BELIEVED)
    return false
  }

  async function told<T>(
    outcome: Outcome<T>,
    id: string | null | undefined,
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    if (outcome.ok || !id || !mayMeanLost(outcome.failure) || !(await isLost(id, signal))) return outcome
    return { ok: false, failure: { ...outcome.failure, remedy: 'gone' } }
  }

  const telling = hostWith(host, {
    list: async (id, page, signal) => told(await host.list(id, page, signal), id, signal),
    requestUpload: async (request, signal) =>
      told(await host.requestUpload(request, signal), request.album_id, signal),
  })
  return telling
}

function mayMeanLost({ remedy }: HostFailure): boolean {
  return remedy === 'not_permitted' || remedy === 'change_request'
}
