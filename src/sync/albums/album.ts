import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'

/** Where an image goes: an album, or null for the host's root. */
export type Album = AlbumRow | null

/** No two are alike: a name holds no slash. */
export function keyOf(parent: Album, name: string): string {
  return `${parent?.remote_id ?? ''}/${name}`
}

/** An album's path on the host; '' is the root. */
export function albumName({ albums }: Synced, album: number | null): string {
  const row = album === null ? undefined : albums.byId(album)
  if (!row) return ''
  const names = [row.name]
  for (let at = row.parent; at !== null; at = albums.byId(at)!.parent) names.unshift(albums.byId(at)!.name)
  return names.join('/')
}

/** Whether something is on its way into one of them, or may be. */
export function isUnderWay({ journal }: Pick<Synced, 'journal'>, albums: readonly AlbumRow[]): boolean {
  const ids = new Set(albums.map(({ id }) => id))
  return journal.open().some(({ album }) => album !== null && ids.has(album))
}
