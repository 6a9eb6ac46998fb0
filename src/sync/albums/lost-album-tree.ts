import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { forgetImage } from '../records/lost-image.ts'

/** An album and those that are recorded below it, each before those that lie in it. */
export function treeOf({ emptied }: Pick<Synced, 'emptied'>, album: AlbumRow): AlbumRow[] {
  return [album, ...emptied.below(album.id).flatMap(below => treeOf({ emptied }, below))]
}

/** An album is gone from the host, with all that was in it, whoever else took that. Belongs into a commit. */
export function forgetAlbumTree(synced: Synced, album: AlbumRow, now: number): void {
  for (const { id } of treeOf(synced, album).toReversed()) {
    for (const image of synced.images.inAlbum(id)) forgetImage(synced, image, now)
    synced.emptied.forgetAlbum(id)
  }
}

/** Whether something is on its way into one of them, or may be. */
export function isUnderWay({ journal }: Pick<Synced, 'journal'>, albums: readonly AlbumRow[]): boolean {
  const ids = new Set(albums.map(({ id }) => id))
  return journal.open().some(({ album }) => album !== null && ids.has(album))
}
