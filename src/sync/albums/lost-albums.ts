import { albumInDoubt, treeOf } from '../../records/albums.ts'
import { deleted } from '../../records/images.ts'
import type { HostFailure, ImageHost } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import type { Clock } from '../clock.ts'
import { mayArriveFor } from '../credential-life.ts'
import type { AlbumContents } from '../listing/album-contents.ts'
import { walkWhole } from '../listing/walk.ts'

export interface LostAlbumParts {
  synced: Synced
  host: ImageHost
  clock: Clock
  contents: AlbumContents
  credentialLifetimeMs: number
}

/** Whether a deletion of the album, or of one above it, may have been done: what is sent there would go with it. */
export function isLeaving({ albums, unusedAlbums }: Synced, album: AlbumRow): boolean {
  for (let at: AlbumRow | undefined = album; at; at = at.parent === null ? undefined : albums.byId(at.parent))
    if (unusedAlbums.at(at.id)?.state === 'deleting') return true
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
  for (const { album, since, state } of synced.unusedAlbums.all()) {
    if (state !== 'deleting' || since > longAgo || synced.images.countInAlbum(album) === 0) continue
    const row = synced.albums.byId(album)!
    const walk = await walkWhole(host, row.remote_id, signal)
    if (!walk.ok && walk.failure.remedy !== 'gone') return walk.failure
    if (walk.ok && !walk.value.complete) continue
    for (const gone of walk.ok ? [] : treeOf(synced, row)) contents.forget(gone.id)
    await synced.commit(tx => {
      tx.unusedAlbums.remove(album)
      // It is there still, so nothing was deleted: a deletion takes all of it.
      if (walk.ok) return
      for (const gone of treeOf(synced, row)) {
        for (const image of tx.images.inAlbum(gone.id)) deleted(tx, image, clock.wall())
        albumInDoubt(tx, gone.remote_id)
      }
    })
  }
  return null
}
