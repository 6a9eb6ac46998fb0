import { normalize } from 'node:path'
import type { Config } from '../../config/schema.ts'
import type { DiskEntry } from '../../local/disk.ts'
import { realDisk } from '../../local/real-disk.ts'
import { folderAbove, foldersAbove, fullPath, nameOf, pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { isRecorded, type PlaceInMirror, placesOf } from './place.ts'

/**
 * The places that a path from a command line may mean. More than one where several mirrors know it, none where it lies
 * in no mirror.
 */
export function placesGiven(config: Config, synced: Synced, path: string): PlaceInMirror[] {
  const places = placesOf(
    config,
    normalize(path).replace(/(?<=.)\/$/, ''),
    place => isOnDisk(place) || isRecorded(synced, place) || namesMeant(place).length > 0,
  )
  return places.flatMap(place => {
    const meant = namesMeant(place)
    return meant.length > 0 ? meant : [place]
  })
}

/**
 * A shell hands over the bytes of a name that is not UTF-8, of which Node makes U+FFFD. Answers what that may be on the
 * disk, as its names are shown: with \xNN. Nothing below a folder of such a name is looked at.
 */
function namesMeant({ mirror, path }: PlaceInMirror): PlaceInMirror[] {
  for (const at of [...foldersAbove(path), path]) {
    if (!nameOf(at).includes('\ufffd') || isOnDisk({ mirror, path: at })) continue
    const given = nameOf(at).replace(/\ufffd+/g, '\ufffd')
    const above = folderAbove(at)
    const isMeant = ({ name, validUtf8 }: DiskEntry) =>
      !validUtf8 && name.replace(/(?:\\x[0-9a-f]{2})+/g, '\ufffd') === given
    return entriesOf(fullPath(mirror.folder, above))
      .filter(isMeant)
      .map(({ name }) => ({ mirror, path: pathOf(above, name) }))
  }
  return []
}

function entriesOf(folder: string): DiskEntry[] {
  try {
    return realDisk.readFolder(folder)
  } catch {
    return []
  }
}

/** Whatever it is. */
export function isOnDisk({ mirror, path }: PlaceInMirror): boolean {
  try {
    realDisk.lstat(fullPath(mirror.folder, path))
    return true
  } catch {
    return false
  }
}
