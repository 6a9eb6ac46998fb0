import { albumGone, albumNeeded, albumUnused, treeOf } from '../../records/albums.ts'
import { countDeletion } from '../../records/escrow.ts'
import { movedTo } from '../../records/moves.ts'
import { isOfThisOne } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { albumName, isUnderWay } from '../album.ts'
import type { EngineContext } from '../context.ts'
import { walkWhole } from '../listing/index.ts'
import type { Interruption, MirrorPolicy } from '../pass-request.ts'
import { type DeletionContext, type DeletionRun, isDue } from './delete-images.ts'
import { type Deletion, type DiskCheck, sendDelete, whyImageStays } from './send-delete.ts'
import { folderlessAlbums } from './unused-albums.ts'

/** An album with all that is recorded in it and below it. */
interface WholeAlbum {
  /** The album itself first, and each album before the albums that lie in it. */
  albums: AlbumRow[]
  images: ImageRow[]
}

/**
 * Deletes the albums of folders that are gone, each album with everything in it by one request (§4.5). An example: the
 * folder "2019" with 400 pictures was removed. One request deletes its album, instead of 400 requests. The host must show
 * exactly what is recorded in the album, and every image in it must be due for deletion. All other images are deleted one
 * by one. This is only for accounts that nobody else writes to, because the request deletes whatever is in the album when
 * the host carries it out. Answers the host's failure that ended the deletions early, or null.
 */
export async function deleteWholeAlbums(
  context: DeletionContext,
  policies: readonly MirrorPolicy[],
  run: DeletionRun,
  { stop, cut }: Interruption,
): Promise<HostFailure | null> {
  const { synced } = context
  const { mirror, disk } = run
  const entries = synced.escrow.ofMirror(mirror.id).filter(entry => isDue(context, run, entry))
  const due = new Map(entries.map(entry => [entry.image, entry]))
  if (due.size === 0) return null
  const done = new Set<number>()
  const created = synced.albums.all().filter(({ ours, confirmed }) => ours === 1 && confirmed === 1)
  // The outermost albums come first, because the albums in them are deleted with them.
  for (const { album } of folderlessAlbums(synced, policies, created, mirror.id).toReversed()) {
    // The host may have deleted more with the previous album than was recorded. Then no further album is deleted.
    if (stop.aborted || synced.meta.get('deleted_more') !== null) return null
    if (done.has(album.id)) continue
    const whole = wholeAlbum(synced, album, due)
    if (!whole) continue
    const shown = await showsExactly(context, whole, cut)
    if (typeof shown === 'object') return shown
    // The walks take long, so the questions are asked after them.
    if (!shown || whyAlbumStays(context, whole, disk) !== null) continue
    for (const { id } of whole.albums) done.add(id)
    const failure = await deleteWhole(context, run, whole, due, cut)
    if (failure) return failure
  }
  return null
}

/** Why the album must not be deleted, or null. Asked again just before the request leaves. */
function whyAlbumStays(
  context: Pick<EngineContext, 'synced' | 'claims'>,
  { albums, images }: WholeAlbum,
  disk: DiskCheck,
): Reason | null {
  const { synced } = context
  const recorded = albums.reduce((sum, { id }) => sum + synced.images.countInAlbum(id), 0)
  if (recorded !== images.length || isUnderWay(synced, albums)) return because('album_needed')
  for (const image of images) {
    const why = whyImageStays(context, image, disk)
    if (why !== null) return why
  }
  return null
}

/** The album with all that is recorded in it. Null: an image in it must stay, or an upload into it is open. */
function wholeAlbum(synced: Synced, album: AlbumRow, due: ReadonlyMap<number, EscrowRow>): WholeAlbum | null {
  const albums = treeOf(synced, album)
  const images = albums.flatMap(({ id }) => synced.images.inAlbum(id))
  const allDue =
    images.length > 0 &&
    albums.every(({ ours, confirmed }) => ours === 1 && confirmed === 1) &&
    images.every(({ id, proof }) => due.has(id) && proof !== 'none' && !synced.journal.deletionOf(id))
  if (!allDue) return null
  return isUnderWay(synced, albums) ? null : { albums, images }
}

/** Whether the host lists exactly what is recorded in the albums, or the failure that kept the albums from being walked. */
async function showsExactly(
  { synced, host }: DeletionContext,
  { albums }: WholeAlbum,
  signal: AbortSignal,
): Promise<boolean | HostFailure> {
  for (const { id, remote_id } of albums) {
    const walk = await walkWhole(host, remote_id, signal)
    if (!walk.ok) return walk.failure.remedy === 'gone' || isOfThisOne(walk.failure) ? false : walk.failure
    const { complete, ...shown } = walk.value
    const exact =
      complete &&
      areSame(shown.images, synced.images.inAlbum(id)) &&
      areSame(shown.albums, synced.unusedAlbums.below(id))
    if (!exact) return false
  }
  return true
}

function areSame(listed: readonly { id: string }[], recorded: readonly { remote_id: string }[]): boolean {
  const ids = new Set(listed.map(({ id }) => id))
  return ids.size === recorded.length && recorded.every(({ remote_id }) => ids.has(remote_id))
}

async function deleteWhole(
  context: DeletionContext,
  { mirror, disk }: DeletionRun,
  whole: WholeAlbum,
  due: ReadonlyMap<number, EscrowRow>,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, clock, running, tell, contents } = context
  const { albums, images } = whole
  const album = albums[0]!
  const name = albumName(synced, album.id)
  const deletion: Deletion = {
    target: {
      album: album.remote_id,
      holds: { name, albums: albums.length, images: images.map(({ id }) => due.get(id)!.path) },
    },
    intend(tx) {
      for (const { id } of images) tx.journal.openImageDeletion(id, clock.wall())
      albumUnused(tx, album.id, 'deleting', clock.monotonic())
    },
    whyNot: () => whyAlbumStays(context, whole, disk),
    done(tx) {
      for (const image of images) countDeletion(tx, due.get(image.id)!, running())
      albumGone(tx, album, clock.wall())
    },
    notDone(tx) {
      for (const { id } of images) tx.journal.forgetImage(id)
      albumNeeded(tx, album.id)
    },
  }
  const moved = new Map(images.map(image => [image.id, movedTo(synced, image)?.path ?? null]))
  // When the answer is lost, a later pass looks whether the album is gone (`recoverAlbumDeletions`). An album that is still
  // there keeps its images, because a deletion takes the album with everything in it. They are then deleted one by one.
  const refusal = await sendDelete(context, deletion, signal)
  if (refusal) return isOfThisOne(refusal) ? null : refusal
  for (const { id } of albums) contents.forget(id)
  for (const { id } of images) {
    const { path, reason } = due.get(id)!
    tell({ event: 'image_deleted', mirror: mirror.folder, path, reason, moved_to: moved.get(id) ?? null })
  }
  tell({ event: 'album_deleted', album: name })
  return null
}
