import type { AlbumRow } from '../../synced/tables/albums.ts'

/** Where an image goes: an album, or null for the host's root. */
export type Album = AlbumRow | null

/** No two are alike: a name holds no slash. */
export function keyOf(parent: Album, name: string): string {
  return `${parent?.remote_id ?? ''}/${name}`
}
