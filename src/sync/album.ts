import { createHash } from 'node:crypto'
import { ALBUM_NAME_MAX } from '../protocol/limits.ts'
import type { Synced } from '../synced/synced.ts'
import type { AlbumRow } from '../synced/tables/albums.ts'

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

const HASH_DIGITS = 16
const SHORTENED = /~[0-9a-f]{16}$/

/**
 * The album's name for a folder's name, at most 100 characters (§4.6). Two folders never share one: a long name
 * becomes prefix, `~` and hash, and so does a short one that looks like that.
 */
export function albumNameOf(folder: string): string {
  if (folder.length <= ALBUM_NAME_MAX && !SHORTENED.test(folder)) return folder
  const hash = createHash('sha256').update(folder).digest('hex').slice(0, HASH_DIGITS)
  let prefix = folder.slice(0, ALBUM_NAME_MAX - HASH_DIGITS - 1)
  // Half a surrogate pair is no character.
  if (/[\uD800-\uDBFF]$/.test(prefix)) prefix = prefix.slice(0, -1)
  return `${prefix}~${hash}`
}

/** The album's path for a folder: the mirror's album, then one album a folder. */
export function albumPathOf(mirrorAlbum: string, folder: string): string[] {
  return [mirrorAlbum, folder.split('/').map(albumNameOf).join('/')].flatMap(path =>
    path ? path.split('/') : [],
  )
}

/** Whether a deletion of the album, or of one above it, may have been done: what is sent there would go with it. */
export function isLeaving({ albums, unusedAlbums }: Synced, album: AlbumRow): boolean {
  for (let at: AlbumRow | undefined = album; at; at = at.parent === null ? undefined : albums.byId(at.parent))
    if (unusedAlbums.at(at.id)?.state === 'deleting') return true
  return false
}
