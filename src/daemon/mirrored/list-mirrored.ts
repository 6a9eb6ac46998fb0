import type { Config } from '../../config/schema.ts'
import { folderAbove, nameOf } from '../../sync/tree-path.ts'
import type { StandingFile } from '../../synced/standing.ts'
import { isOnDisk, placesGiven } from '../why/given-place.ts'
import type { PlaceInMirror } from '../why/place.ts'
import { type MirroredPicture, MirroredPictures } from './picture.ts'
import type { Reading } from './reading.ts'

/**
 * The places that a path may mean, as `why` understands it; without one, all mirrors whole. None: it lies in no mirror.
 */
export function placesToList(config: Config, { synced }: Reading, path: string | undefined): PlaceInMirror[] {
  if (path === undefined) return config.mirrors.map(mirror => ({ mirror, path: '' }))
  return placesGiven(config, synced, path)
}

/** What is recorded of a place. `picture` null: it is not on the host, or not for long. unseen: no scan has seen it yet. */
export type Recorded =
  | { kind: 'picture'; picture: MirroredPicture | null }
  | { kind: 'folder'; pictures: Iterable<MirroredPicture> }
  | { kind: 'unseen' }
  | { kind: 'nothing' }

/** In the order of paths, one at a time. What is gone from the disk and is to be deleted on the host is left out. */
export function recordedAt({ synced, standing }: Reading, place: PlaceInMirror): Recorded {
  const { mirror, path } = place
  const row = synced.mirrors.of(mirror.folder)
  if (!row) return path === '' ? { kind: 'folder', pictures: [] } : nothingAt(place)
  const told = new MirroredPictures(synced)
  const above = path === '' ? undefined : synced.folders.at(row.id, folderAbove(path))
  const file = above && synced.files.at({ folder: above.id, name: nameOf(path) })
  const isFolder = path === '' || synced.folders.at(row.id, path) !== undefined
  // A folder may have taken the place of a picture that is gone.
  if (isFolder && (!file || file.state === 'gone'))
    return { kind: 'folder', pictures: standingIn(standing.below(row.id, path), told, mirror.folder) }
  if (!file) return nothingAt(place)
  return {
    kind: 'picture',
    picture: file.state === 'gone' ? null : told.of(mirror.folder, { ...file, path }),
  }
}

/** Those that are on the host. */
export function picturesOf(recorded: Recorded): Iterable<MirroredPicture> {
  if (recorded.kind === 'folder') return recorded.pictures
  return recorded.kind === 'picture' && recorded.picture ? [recorded.picture] : []
}

function* standingIn(
  files: Iterable<StandingFile>,
  told: MirroredPictures,
  mirror: string,
): Generator<MirroredPicture> {
  for (const file of files) {
    const picture = file.state === 'gone' ? null : told.of(mirror, file)
    if (picture) yield picture
  }
}

function nothingAt(place: PlaceInMirror): Recorded {
  return { kind: isOnDisk(place) ? 'unseen' : 'nothing' }
}
