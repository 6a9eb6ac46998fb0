import { createHash } from 'node:crypto'
import { ALBUM_NAME_MAX } from '../protocol/limits.ts'

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
