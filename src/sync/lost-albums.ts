import type { HostFailure, ImageHost } from '../remote/host.ts'
import type { AlbumRow } from '../synced/albums.ts'
import type { ImageRow } from '../synced/images.ts'
import type { Synced } from '../synced/synced.ts'
import type { AlbumContents } from './album-contents.ts'
import type { Clock } from './clock.ts'
import { mayArriveFor } from './credential-life.ts'
import { walkWhole } from './walk.ts'

export interface LostAlbumParts {
  synced: Synced
  host: ImageHost
  clock: Clock
  contents: AlbumContents
  credentialLifetimeMs: number
}

/** Whether a deletion of the album, or of one above it, may have been done: what is sent there would go with it. */
export function isLeaving({ albums, emptied }: Synced, album: AlbumRow): boolean {
  for (let at: AlbumRow | undefined = album; at; at = at.parent === null ? undefined : albums.byId(at.parent))
    if (emptied.at(at.id)?.state === 'deleting') return true
  return false
}

/**
 * Finds out what became of deletions of albums with their images whose answer was lost, once they can't arrive any more.
 * Answers the failure that kept it from looking, or null.
 */
export async function findOutAboutAlbums(
  parts: LostAlbumParts,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, host, clock, contents, credentialLifetimeMs } = parts
  const longAgo = clock.monotonic() - mayArriveFor(credentialLifetimeMs)
  for (const { album, since, state } of synced.emptied.all()) {
    if (state !== 'deleting' || since > longAgo || synced.images.countInAlbum(album) === 0) continue
    const row = synced.albums.byId(album)!
    const walk = await walkWhole(host, row.remote_id, signal)
    if (!walk.ok && walk.failure.remedy !== 'gone') return walk.failure
    if (walk.ok && !walk.value.complete) continue
    for (const gone of walk.ok ? [] : treeOf(synced, row)) contents.forget(gone.id)
    await synced.commit(() => {
      synced.emptied.remove(album)
      // It is there still, so nothing was deleted: a deletion takes all of it.
      if (walk.ok) return
      for (const gone of treeOf(synced, row)) {
        for (const image of synced.images.inAlbum(gone.id)) lose(synced, image, clock.wall())
        synced.albums.doubt(gone.remote_id)
      }
    })
  }
  return null
}

function treeOf({ emptied }: Synced, album: AlbumRow): AlbumRow[] {
  return [album, ...emptied.below(album.id).flatMap(below => treeOf({ emptied } as Synced, below))]
}

/** The image is gone; a file that is back is sent again. */
function lose(
  { files, folders, images, escrow, journal, deleted }: Synced,
  image: ImageRow,
  now: number,
): void {
  for (const file of files.onImage(image.id)) {
    if (file.state === 'gone' || file.state === 'kept') files.remove(file)
    else if (file.state === 'hidden') files.put({ ...file, image: null })
    else files.put({ ...file, image: null, state: 'pending', since: file.since ?? now, hash: null })
    folders.removeIfEmpty(file.folder)
  }
  journal.forgetImage(image.id)
  escrow.takeBack(image.id)
  deleted.put(image.remote_id, now)
  images.remove(image.id)
}
