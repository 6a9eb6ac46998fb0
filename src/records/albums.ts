import type { Records, Tx } from '../synced/synced.ts'
import type { AlbumRow, UnusedAlbumRow } from '../synced/tables/albums.ts'
import { deleted } from './images.ts'

/** How an album came to be known: the host listed the album, or albumd created it. */
export type AlbumOrigin = 'listed' | 'made'

/** Records that the host has an album of this name in `parent` (null is the root), and closes an open intent to create it.
 * `monotonic`: milliseconds since the machine started. Returns the album's record. */
export function albumFound(
  tx: Tx,
  { parent, name, remoteId }: { parent: number | null; name: string; remoteId: string },
  origin: AlbumOrigin,
  monotonic: number,
): AlbumRow {
  const ours = origin === 'made'
  const intent = tx.journal.openCreation(parent, name)
  if (intent) tx.journal.close(intent.id)
  const before = tx.albums.named(parent, name)
  const album = tx.albums.put(parent, name, remoteId, ours)
  if (before && before.remote_id !== remoteId) tx.contents.forgetAlbum(album.id)
  if (ours) {
    tx.albums.made(Math.round(monotonic), remoteId)
    tx.contents.put(album.id, 0)
    if (parent !== null) albumUsed(tx, parent)
  }
  return tx.albums.byId(album.id)!
}

/** Records an album that a walk has shown. Where another of its name is recorded, the id is appended to its name. */
export function albumListed(tx: Tx, parent: number | null, name: string, remoteId: string): AlbumRow {
  return tx.albums.put(parent, tx.albums.named(parent, name) ? `${name}\0${remoteId}` : name, remoteId, false)
}

/** The host has taken an upload or another album into this album, so it knows the album. */
export function albumUsed(tx: Tx, album: number): void {
  tx.albums.used(album)
}

/** The host did not know the album's id, so the album is looked for again. */
export function albumInDoubt(tx: Tx, remoteId: string): void {
  tx.albums.doubt(remoteId)
  // Uploads that name no album go into the default album, so that is looked for again too.
  if (tx.meta.get('default_album') === remoteId) tx.meta.clear('default_album')
}

/** The album, all albums below it and all their images are gone from the host. */
export function albumGone(tx: Tx, album: AlbumRow, now: number): void {
  for (const { id } of treeOf(tx, album).toReversed()) {
    for (const image of tx.images.inAlbum(id)) deleted(tx, image, now)
    tx.unusedAlbums.forgetAlbum(id)
  }
}

/** albumd created the album, and nothing needs it. `state`: see UnusedAlbumRow. `since`: monotonic milliseconds. */
export function albumUnused(tx: Tx, album: number, state: UnusedAlbumRow['state'], since: number): void {
  tx.unusedAlbums.put({ album, since, state })
}

/** The album is needed again, or its deletion was not done. */
export function albumNeeded(tx: Tx, album: number): void {
  tx.unusedAlbums.remove(album)
}

/** An album and the recorded albums below it, each album before the albums in it. */
export function treeOf({ unusedAlbums }: Pick<Records, 'unusedAlbums'>, album: AlbumRow): AlbumRow[] {
  return [album, ...unusedAlbums.below(album.id).flatMap(below => treeOf({ unusedAlbums }, below))]
}
