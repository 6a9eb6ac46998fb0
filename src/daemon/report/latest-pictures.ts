import type { Config } from '../../config/schema.ts'
import { albumName } from '../../sync/album.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'

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
