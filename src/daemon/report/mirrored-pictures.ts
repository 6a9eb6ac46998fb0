import type { Config } from '../../config/schema.ts'
import { albumName } from '../../sync/album.ts'
import { deliveryAddresses } from '../../sync/listing/index.ts'
import type { MirrorLocation } from '../../sync/outlook/index.ts'
import { folderAbove, nameOf, pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileAtPath, FileState } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { isOnDisk } from './location.ts'

/** A recorded picture that uses an image of the host. */
export interface MirroredPicture {
  /** The mirror's folder. */
  mirror: string
  /** Below the mirror's folder. */
  path: string
  name: string
  state: FileState
  /** The image holds an earlier version of the picture. The file as it is now is not on the host. */
  older: boolean
  /** The album's path on the host; '' is the root. */
  album: string
  image: ImageRow
  /**
   * Null: not known. An address that the host has not told is built from what uploads and listings show
   * (sync/listing/delivery.ts).
   */
  url: string | null
}

/** Finds the images of recorded files. Answers null for a file that has no image. */
export function mirroredPictures(
  synced: Synced,
): (mirror: string, file: FileAtPath) => MirroredPicture | null {
  const addressOf = deliveryAddresses(synced)
  // The album of the last file, because most files of a folder are in the same album.
  let album: { id: number | null; name: string } | null = null
  return (mirror, { image: id, path, name, state, hash }) => {
    const image = id === null ? undefined : synced.images.byId(id)
    if (!image) return null
    if (album === null || album.id !== image.album)
      album = { id: image.album, name: albumName(synced, image.album) }
    const older = state !== 'linked' && state !== 'synced' && !hash?.equals(image.hash)
    const url = image.cdn_url ?? addressOf(image.remote_id, image.name)
    return { mirror, path, name, state, older, album: album.name, image, url }
  }
}

/**
 * What is recorded at a location. `picture` null: the picture has no image, or the image will be deleted. `unseen`: the
 * location exists on the disk, and no scan has seen it yet.
 */
export type Recorded =
  | { kind: 'picture'; picture: MirroredPicture | null }
  | { kind: 'folder'; pictures: Iterable<MirroredPicture> }
  | { kind: 'unseen' }
  | { kind: 'nothing' }

/** The pictures come in the order of their paths. A picture that is gone from the disk is left out. */
export function recordedAt(synced: Synced, location: MirrorLocation): Recorded {
  const { mirror, path } = location
  const row = synced.mirrors.of(mirror.folder)
  if (!row) return path === '' ? { kind: 'folder', pictures: [] } : nothingAt(location)
  const pictureOf = mirroredPictures(synced)
  const above = path === '' ? undefined : synced.folders.at(row.id, folderAbove(path))
  const file = above && synced.files.at({ folder: above.id, name: nameOf(path) })
  const isFolder = path === '' || synced.folders.at(row.id, path) !== undefined
  function* below() {
    for (const file of synced.files.below(row!.id, path)) {
      const picture = file.state === 'gone' ? null : pictureOf(mirror.folder, file)
      if (picture) yield picture
    }
  }
  // A folder may have the path of a picture that is gone.
  if (isFolder && (!file || file.state === 'gone')) return { kind: 'folder', pictures: below() }
  if (!file) return nothingAt(location)
  return {
    kind: 'picture',
    picture: file.state === 'gone' ? null : pictureOf(mirror.folder, { ...file, path }),
  }
}

/** The pictures that are on the host. */
export function picturesOf(recorded: Recorded): Iterable<MirroredPicture> {
  if (recorded.kind === 'folder') return recorded.pictures
  return recorded.kind === 'picture' && recorded.picture ? [recorded.picture] : []
}

function nothingAt(location: MirrorLocation): Recorded {
  return { kind: isOnDisk(location) ? 'unseen' : 'nothing' }
}

/** A picture that was uploaded, with its delivery address. */
export interface LatestPicture {
  /** The id of the image in our records. */
  image: number
  /** The mirror's folder, and the path below it. */
  mirror: string
  path: string
  /** The album that its image is in, slash-separated; '' is the root. */
  album: string
  cdn_url: string
  /** Bytes. */
  size: number
  /** When the upload was recorded, in milliseconds since 1970. */
  at: number
}

/**
 * The last uploaded pictures that still exist on the disk, the latest first. At most `most`. There may be fewer, because
 * pictures that were deleted since are left out.
 */
export function latestPictures(config: Config, synced: Synced, most: number): LatestPicture[] {
  const latest = synced.images.acknowledged(most * 4).flatMap(({ remote_id }) => {
    const image = synced.images.byRemoteId(remote_id)
    const location = image && locationOf(config, synced, image.id)
    if (!location || image.cdn_url === null) return []
    const { id, cdn_url, size, recorded_at: at } = image
    return [{ image: id, ...location, album: albumName(synced, image.album), cdn_url, size, at }]
  })
  return latest.slice(0, most)
}

/** The location of a file that uses the image and was there at the last scan. Null: there is none. */
export function locationOf(
  config: Config,
  synced: Synced,
  image: number,
): { mirror: string; path: string } | null {
  const mirrors = new Map(config.mirrors.map(({ folder }) => [synced.mirrors.of(folder)?.id, folder]))
  for (const { folder, name, state } of synced.files.onImage(image)) {
    const row = synced.folders.byId(folder)
    const mirror = mirrors.get(row?.mirror)
    if (row && mirror !== undefined && IS_THERE.has(state)) return { mirror, path: pathOf(row.path, name) }
  }
  return null
}

/** In the other states the picture is gone or hidden. */
const IS_THERE: ReadonlySet<string> = new Set(['synced', 'pending', 'linked', 'uncertain', 'failed'])
