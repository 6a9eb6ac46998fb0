import type { ListedImage } from '../../protocol/records.ts'
import type { HostFailure, ImageHost, Outcome } from '../../remote/host.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { mayArriveFor } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import { walkEverything, walkWhole } from '../listing/index.ts'

export type LookContext = Pick<EngineContext, 'synced' | 'clock' | 'credentialLifetimeMs'> & {
  host: Pick<ImageHost, 'list'>
}

/**
 * What the host shows of an album.
 * whole: all of its images.
 * unknown: the listing proves nothing, for the reason given.
 * failed: the host refuses further requests.
 */
export type AlbumLook<Image extends ListedImage = ListedImage> =
  /** atOnce: the first walk was complete, so no interrupted walk lies between this look and the look before. */
  | { kind: 'whole'; images: readonly Image[]; atOnce: boolean }
  | { kind: 'unknown'; reason: Reason }
  | { kind: 'failed'; failure: HostFailure }

/**
 * Walks an album; null is the root, together with any album that may be the account's default album. An album that is gone
 * from the host holds nothing.
 */
export async function lookAtAlbum(
  context: LookContext,
  album: number | null,
  signal: AbortSignal,
): Promise<AlbumLook> {
  if (album === null && context.synced.meta.get('default_album') !== '')
    return lookEverywhere(context, signal)
  const row = album === null ? null : context.synced.albums.byId(album)!
  const walk = await walkWhole(context.host, row?.remote_id ?? null, signal)
  if (!walk.ok && walk.failure.remedy === 'gone' && row) return lookForAlbum(context, row, signal)
  return lookOf(walk)
}

/**
 * The images of the root, and those images of other albums that are recorded in the root. An upload without an album lands
 * in the account's default album (§4.1). While nobody knows which album that is, its images are recorded in the root.
 */
async function lookEverywhere({ synced, host }: LookContext, signal: AbortSignal): Promise<AlbumLook> {
  const look = lookOf(await walkEverything(host, signal))
  if (look.kind !== 'whole') return look
  const inRoot = new Set(synced.images.inAlbum(null).map(({ remote_id }) => remote_id))
  const images = look.images.filter(({ id, album }) => album === null || inRoot.has(id))
  return { ...look, images }
}

export function lookOf<Image extends ListedImage>(
  walk: Outcome<{ images: readonly Image[]; complete: boolean; atOnce: boolean }>,
): AlbumLook<Image> {
  if (!walk.ok) {
    const { failure } = walk
    const ofThisAlbum = failure.remedy === 'not_permitted' || failure.remedy === 'change_request'
    return ofThisAlbum || failure.remedy === 'gone'
      ? { kind: 'unknown', reason: failure.message }
      : { kind: 'failed', failure }
  }
  const { images, complete, atOnce } = walk.value
  return complete ? { kind: 'whole', images, atOnce } : listingChanges
}

export const listingChanges = {
  kind: 'unknown',
  reason: because('listing_changed'),
} as const

/** Looks for an album whose id the host does not know. The album is gone when its parent does not list it, or is gone too. */
async function lookForAlbum(
  context: LookContext,
  { remote_id, parent, made_at }: AlbumRow,
  signal: AbortSignal,
): Promise<AlbumLook> {
  const { synced, host, clock, credentialLifetimeMs } = context
  const unknown = { kind: 'unknown', reason: because('listed_not_known') } as const
  // A host may be late to know an album that was created a moment ago.
  if (made_at !== null && clock.monotonic() - made_at < mayArriveFor(credentialLifetimeMs)) return unknown
  const above = parent === null ? null : synced.albums.byId(parent)!
  const walk = await walkWhole(host, above?.remote_id ?? null, signal)
  if (!walk.ok && walk.failure.remedy === 'gone' && above) return lookForAlbum(context, above, signal)
  const look = lookOf(walk)
  if (look.kind !== 'whole') return look
  const listed = walk.ok && walk.value.albums.some(({ id }) => id === remote_id)
  return listed ? unknown : { ...look, images: [] }
}
