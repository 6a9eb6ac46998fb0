import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'

/** Whether something is on its way into one of them, or may be. */
export function isUnderWay({ journal }: Pick<Synced, 'journal'>, albums: readonly AlbumRow[]): boolean {
  const ids = new Set(albums.map(({ id }) => id))
  return journal.open().some(({ album }) => album !== null && ids.has(album))
}
