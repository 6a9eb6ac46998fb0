import type { ListedImage } from '../../protocol/records.ts'
import type { HostFailure, ImageHost, Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { type Clock, mayArriveFor } from '../clock.ts'
import { walkEverything, walkWhole } from '../listing/index.ts'

export interface LookParts {
  synced: Synced
  host: Pick<ImageHost, 'list'>
  clock: Clock
  credentialLifetimeMs: number
}

/**
 * What the host shows of an album. whole: all of its images. unknown: no evidence of anything, with the reason. failed:
 * the host will not have more questions.
 */
export type AlbumLook<Image extends ListedImage = ListedImage> =
  /** atOnce: its first walk was whole, so none lies between it and the look before. */
  | { kind: 'whole'; images: readonly Image[]; atOnce: boolean }
  | { kind: 'unknown'; reason: string }
  | { kind: 'failed'; failure: HostFailure }

/**
 * Walks an album whole; null is the root, and wherever else uploads without an album may have gone. An album that is gone
 * from the host holds nothing.
 */
export async function lookAtAlbum(
  parts: LookParts,
  album: number | null,
  signal: AbortSignal,
): Promise<AlbumLook> {
  if (album === null && parts.synced.meta.get('default_album') !== '') return lookEverywhere(parts, signal)
  const row = album === null ? null : parts.synced.albums.byId(album)!
  const walk = await walkWhole(parts.host, row?.remote_id ?? null, signal)
  if (!walk.ok && walk.failure.remedy === 'gone' && row) return lookForAlbum(parts, row, signal)
  return lookOf(walk)
}

/**
 * The root, with the images that are recorded there and stand in another album: an upload without an album lands in the
 * account's default album where one is set (§4.1), and it may not have been learned yet which.
 */
async function lookEverywhere({ synced, host }: LookParts, signal: AbortSignal): Promise<AlbumLook> {
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
  reason: 'its listing kept changing while it was read',
} as const

/** The host does not know the album's id. It is gone where its parent does not list it, or is gone too. */
async function lookForAlbum(
  parts: LookParts,
  { remote_id, parent, made_at }: AlbumRow,
  signal: AbortSignal,
): Promise<AlbumLook> {
  const { synced, host, clock, credentialLifetimeMs } = parts
  const unknown = { kind: 'unknown', reason: 'the host lists it and does not know it' } as const
  // A host may be late to know what was made a moment ago.
  if (made_at !== null && clock.monotonic() - made_at < mayArriveFor(credentialLifetimeMs)) return unknown
  const above = parent === null ? null : synced.albums.byId(parent)!
  const walk = await walkWhole(host, above?.remote_id ?? null, signal)
  if (!walk.ok && walk.failure.remedy === 'gone' && above) return lookForAlbum(parts, above, signal)
  const look = lookOf(walk)
  if (look.kind !== 'whole') return look
  const listed = walk.ok && walk.value.albums.some(({ id }) => id === remote_id)
  return listed ? unknown : { ...look, images: [] }
}
