import { normalize } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/real-disk.ts'
import { fullPath } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { isRecorded, type PlaceInMirror, placesOf } from './place.ts'

/**
 * The places that a path from a command line may mean. More than one where several mirrors know it, none where it lies
 * in no mirror.
 */
export function placesGiven(config: Config, synced: Synced, path: string): PlaceInMirror[] {
  return placesOf(
    config,
    normalize(path).replace(/(?<=.)\/$/, ''),
    place => isOnDisk(place) || isRecorded(synced, place),
  )
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
