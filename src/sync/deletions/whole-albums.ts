import { albumGone } from '../../records/albums.ts'
import { countDeletion } from '../../records/escrow.ts'
import { isOfThisOne, wasNotDone } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { isUnderWay } from '../albums/lost-album-tree.ts'
import { albumName } from '../audit/audit-records.ts'
import type { Interruption } from '../interruption.ts'
import type { AlbumContents } from '../listing/album-contents.ts'
import { walkWhole } from '../listing/walk.ts'
import type { MirrorPolicy } from '../pass-request.ts'
import { type GiveUpParts, whyStays } from './give-up.ts'
import { FolderlessAlbums } from './leaving-albums.ts'

export interface WholeAlbumParts extends GiveUpParts {
  /** What this process has seen of albums: the number of a row that is gone may become another's. */
  contents: Pick<AlbumContents, 'forget'>
}

/** An album with all that is recorded in it and below it. */
interface WholeAlbum {
  album: AlbumRow
  /** Itself first, each before those that lie in it. */
  albums: AlbumRow[]
  images: ImageRow[]
}

/**
 * Deletes the albums of folders that are gone whole, each with all that is in it by one request (§4.5), where the host
 * shows exactly what is recorded there and all of that is to go. What is left goes one by one. For those who alone
 * write to the account: the request takes whatever is there when it is served. Answers the host's failure that ended it
 * early, or null.
 */
export async function giveUpWholeAlbums(
  parts: WholeAlbumParts,
  policies: readonly MirrorPolicy[],
  mirror: { id: number; folder: string },
  { stop, cut }: Interruption,
): Promise<HostFailure | null> {
  const { synced, running, known } = parts
  const due = new Map(
    synced.escrow
      .ofMirror(mirror.id)
      .filter(({ image, state, due_at }) => state !== 'held' && due_at <= running() && known.has(image))
      .map(given => [given.image, given]),
  )
  if (due.size === 0) return null
  const done = new Set<number>()
  for (const album of folderless(synced, policies, mirror.id)) {
    if (stop.aborted) return null
    if (done.has(album.id)) continue
    const whole = wholeAlbum(synced, album, due)
    if (!whole) continue
    const shown = await showsExactly(parts, whole, cut)
    if (typeof shown === 'object') return shown
    // Looked at last, for the walks take their time.
    if (!shown || whole.images.some(image => whyStays(parts, image))) continue
    for (const { id } of whole.albums) done.add(id)
    const failure = await deleteWhole(parts, mirror, whole, due, cut)
    if (failure) return failure
  }
  return null
}

/** The albums that albumd made and no folder of the mirror needs, outermost first. */
function folderless(synced: Synced, policies: readonly MirrorPolicy[], mirror: number): AlbumRow[] {
  const places = new FolderlessAlbums(synced, policies)
  return synced.albums
    .all()
    .filter(({ ours, confirmed }) => ours === 1 && confirmed === 1)
    .map(album => ({ album, path: places.pathOf(album) }))
    .filter(({ path }) => places.has(path, mirror))
    .sort((a, b) => a.path.length - b.path.length)
    .map(({ album }) => album)
}

/** Null where something in it is not to go, or may be on its way. */
function wholeAlbum(synced: Synced, album: AlbumRow, due: ReadonlyMap<number, EscrowRow>): WholeAlbum | null {
  const albums = [album]
  for (const above of albums) albums.push(...synced.emptied.below(above.id))
  const images = albums.flatMap(({ id }) => synced.images.inAlbum(id))
  const allGo =
    images.length > 0 &&
    albums.every(({ ours, confirmed }) => ours === 1 && confirmed === 1) &&
    images.every(({ id, proof }) => due.has(id) && proof !== 'none' && !synced.journal.deletionOf(id))
  if (!allGo) return null
  return isUnderWay(synced, albums) ? null : { album, albums, images }
}

/** Whether the host shows just what is recorded, or why it can't be asked. */
async function showsExactly(
  { synced, host }: GiveUpParts,
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
      areSame(shown.albums, synced.emptied.below(id))
    if (!exact) return false
  }
  return true
}

function areSame(listed: readonly { id: string }[], recorded: readonly { remote_id: string }[]): boolean {
  const ids = new Set(listed.map(({ id }) => id))
  return ids.size === recorded.length && recorded.every(({ remote_id }) => ids.has(remote_id))
}

async function deleteWhole(
  parts: WholeAlbumParts,
  mirror: { folder: string },
  { album, albums, images }: WholeAlbum,
  due: ReadonlyMap<number, EscrowRow>,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, host, clock, running, tell, contents } = parts
  const { commit } = synced
  const name = albumName(synced, album.id)
  await commit(tx => {
    for (const { id } of images) tx.journal.openImageDeletion(id, clock.wall())
    tx.emptied.put({ album: album.id, since: clock.monotonic(), state: 'deleting' })
  })
  const mayGo = () => !images.some(image => whyStays(parts, image))
  const answer = await host.deleteAlbum(album.remote_id, signal, mayGo)
  if (answer.ok || answer.failure.remedy === 'gone') {
    for (const gone of albums) contents.forget(gone.id)
    await commit(tx => {
      for (const image of images) countDeletion(tx, due.get(image.id)!, running())
      albumGone(tx, album, clock.wall())
    })
    for (const { id } of images) {
      const { path, reason } = due.get(id)!
      tell({ event: 'image_deleted', mirror: mirror.folder, path, reason })
    }
    tell({ event: 'album_deleted', album: name })
    return null
  }
  // A lost answer leaves the intents: the images are given up one by one, and those that are gone are done.
  if (wasNotDone(answer.failure))
    await commit(tx => {
      for (const { id } of images) tx.journal.forgetImage(id)
      tx.emptied.remove(album.id)
    })
  return isOfThisOne(answer.failure) ? null : answer.failure
}
