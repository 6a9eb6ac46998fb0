import { hash } from 'node:crypto'
import { ALBUM_NAME_MAX } from '../protocol/limits.ts'
import type { Records, Synced } from '../synced/synced.ts'
import type { AlbumRow } from '../synced/tables/albums.ts'
import type { FileRow } from '../synced/tables/files.ts'
import { fullPath } from './tree-path.ts'

/** Where an image goes: an album, or null for the host's root. */
export type Album = AlbumRow | null

/** The key of an album in a map. An album's name holds no slash. */
export function keyOf(parent: Album, name: string): string {
  return `${parent?.remote_id ?? ''}/${name}`
}

/** The names from the host's root to an album. Empty for the root. */
export function albumNames({ albums }: Records, album: number | null): string[] {
  const names: string[] = []
  for (let at = album; at !== null; ) {
    const row = albums.byId(at)
    if (row) names.unshift(row.name)
    at = row?.parent ?? null
  }
  return names
}

/** An album's path on the host; '' is the root. */
export function albumName(synced: Records, album: number | null): string {
  return albumNames(synced, album).join('/')
}

/** The recorded album for each name of a path. From the first name on for which no album is recorded, undefined. */
export function recordedAlbums({ albums }: Synced, path: readonly string[]): (AlbumRow | undefined)[] {
  let above: Album | undefined = null
  return path.map(name => (above = above === undefined ? above : albums.named(above?.id ?? null, name)))
}

/** Whether the journal holds an open intent for one of these albums. Then an image may be on its way into this album. */
export function isUnderWay({ journal }: Records, albums: readonly AlbumRow[]): boolean {
  const ids = new Set(albums.map(({ id }) => id))
  return journal.open().some(({ album }) => album !== null && ids.has(album))
}

const HASH_DIGITS = 16
const SHORTENED = /~[0-9a-f]{16}$/

/** The album's name for a folder's name, with at most 100 characters (§4.6). A longer name becomes its beginning, `~` and a hash.
 * So does a short name that looks like that, because no two folders share an album. */
export function albumNameOf(folder: string): string {
  if (folder.length <= ALBUM_NAME_MAX && !SHORTENED.test(folder)) return folder
  let prefix = folder.slice(0, ALBUM_NAME_MAX - HASH_DIGITS - 1)
  // The cut may have split a character of two UTF-16 units.
  if (/[\uD800-\uDBFF]$/.test(prefix)) prefix = prefix.slice(0, -1)
  return `${prefix}~${hash('sha256', folder).slice(0, HASH_DIGITS)}`
}

/** The names of the albums from the host's root to a folder's album. */
export function albumPathOf(mirrorAlbum: string, folder: string): string[] {
  return [mirrorAlbum, folder.split('/').map(albumNameOf).join('/')].flatMap(path =>
    path ? path.split('/') : [],
  )
}

/** Each recorded folder with its place on the disk and the path of its album. */
export function mirroredFolders({ mirrors, folders }: Pick<Synced, 'mirrors' | 'folders'>) {
  return mirrors.all().flatMap(({ id: mirror, album, folder }) =>
    folders.ofMirror(mirror).map(({ id, path, unknown }) => ({
      id,
      unknown,
      at: fullPath(folder, path),
      path: albumPathOf(album, path),
    })),
  )
}

/** Whether a picture with its image in `album` lies flat (1), because this is not its folder's album. `path`: the path of the
 * folder's album. When it is empty, the mirror is in the host's root, and nothing lies flat. */
export function flatness({ albums }: Records, path: readonly string[], album: Album): FileRow['flat'] {
  let at = album
  for (const name of path.toReversed()) {
    if (at?.name !== name) return 1
    at = at.parent === null ? null : albums.byId(at.parent)!
  }
  return path.length > 0 && at !== null ? 1 : 0
}

/** Whether the host may still delete the album, or an album above it, together with what is sent into it now. */
export function isLeaving({ albums, unusedAlbums }: Synced, album: AlbumRow): boolean {
  for (let at: AlbumRow | undefined = album; at; at = at.parent === null ? undefined : albums.byId(at.parent))
    if (unusedAlbums.at(at.id)?.state === 'deleting') return true
  return false
}
