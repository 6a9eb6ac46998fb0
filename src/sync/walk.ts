import type { AlbumRecord, ListedImage } from '../protocol/records.ts'
import type { ImageHost, Outcome } from '../remote/host.ts'

/** What the host lists in one album (§4.4). */
export interface Walk {
  albums: AlbumRecord[]
  images: ListedImage[]
  /** Whether these are all of its images. False is no evidence of anything that is not there. */
  complete: boolean
}

/** How often an album is walked that others change meanwhile. */
const TRIES = 3

/**
 * Every page of an album; null is the root. Albums may stand on the first page, on all or spread over them (§4.4 does
 * not show). A page that brings nothing new ends the walk, whatever `total_pages` says: it is the host's word alone,
 * and may be wrong without end.
 */
export async function walkAlbum(
  host: Pick<ImageHost, 'list'>,
  album: string | null,
  signal: AbortSignal,
): Promise<Outcome<Walk>> {
  const albums = new Map<string, AlbumRecord>()
  const images = new Map<string, ListedImage>()
  let atFirst: number | null = null
  for (let page = 1; ; page++) {
    const listed = await host.list(album, page, signal)
    if (!listed.ok) return listed
    const { total_pages, total_images } = listed.value.pagination
    atFirst ??= total_images
    const before = albums.size + images.size
    for (const found of listed.value.albums) albums.set(found.id, found)
    for (const found of listed.value.images) images.set(found.id, found)
    const bringsNew = albums.size + images.size > before
    if (bringsNew && page < total_pages) continue
    // What others add or delete meanwhile moves images from page to page.
    const complete = images.size === total_images && atFirst === total_images
    return { ok: true, value: { albums: [...albums.values()], images: [...images.values()], complete } }
  }
}

/** A walk that was tried again while others changed the album. */
export interface WholeWalk extends Walk {
  /** Whether it can be relied on for what is there: it is complete, or was the same twice under a count that is not. */
  settled: boolean
}

export async function walkWhole(
  host: Pick<ImageHost, 'list'>,
  album: string | null,
  signal: AbortSignal,
): Promise<Outcome<WholeWalk>> {
  let before: Walk | null = null
  for (let tries = 1; ; tries++) {
    const walk = await walkAlbum(host, album, signal)
    if (!walk.ok) return walk
    const settled = walk.value.complete || (before !== null && showTheSame(before, walk.value))
    if (settled || tries === TRIES) return { ok: true, value: { ...walk.value, settled } }
    before = walk.value
  }
}

function showTheSame(one: Walk, other: Walk): boolean {
  const idsOf = ({ albums, images }: Walk) => new Set([...albums, ...images].map(({ id }) => id))
  const ids = idsOf(one)
  const others = idsOf(other)
  return ids.size === others.size && [...ids].every(id => others.has(id))
}

/** The root and every album that is listed, each whole. `complete` is false where one of them was not. */
export async function walkEverything(host: ImageHost, signal: AbortSignal): Promise<Outcome<PlacedWalk>> {
  const everything: PlacedWalk = { albums: [], images: [], complete: true, settled: true }
  const parents: (string | null)[] = [null]
  const seen = new Set<string>()
  for (const parent of parents) {
    const walk = await walkWhole(host, parent, signal)
    // Somebody deleted it meanwhile.
    if (!walk.ok && walk.failure.remedy === 'gone' && parent !== null) continue
    if (!walk.ok) return walk
    everything.complete &&= walk.value.complete
    everything.settled &&= walk.value.settled
    for (const image of walk.value.images) everything.images.push({ ...image, album: parent })
    for (const album of walk.value.albums) {
      if (seen.has(album.id)) continue
      seen.add(album.id)
      everything.albums.push({ ...album, parent })
      parents.push(album.id)
    }
  }
  return { ok: true, value: everything }
}

/** Images and albums with the host's id of the album that they are in; null is the root. */
export interface PlacedWalk {
  albums: (AlbumRecord & { parent: string | null })[]
  images: (ListedImage & { album: string | null })[]
  complete: boolean
  settled: boolean
}
