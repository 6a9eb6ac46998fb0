import { HOUR_MS } from '../../protocol/clock.ts'
import { albumGone, albumInDoubt, albumNeeded, albumUnused, treeOf } from '../../records/albums.ts'
import { isOfThisOne } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { albumName, albumNames, albumPathOf, isUnderWay } from '../album.ts'
import { mayArriveFor } from '../clock.ts'
import type { AlbumPort } from '../context.ts'
import { walkWhole } from '../listing/index.ts'
import { endingForNews, type MirrorPolicy, type Pass } from '../pass-request.ts'
import { whyNoDeletions } from './hold.ts'
import { type Deletion, sendDelete } from './send-delete.ts'

/** How long an album is left alone after something was seen in it, or after the host refused to delete it. */
const LEFT_ALONE_MS = HOUR_MS

type AlbumPass = Pick<Pass, 'mirrors' | 'interruption' | 'task' | 'stopped'>

/** Deletes the albums that albumd created and that nothing needs, deepest first. Each is deleted only after two complete walks
 * that showed nothing in it, because the host may be late to list another person's picture. */
export async function deleteUnusedAlbums(
  context: AlbumPort,
  { mirrors, interruption, task, stopped }: AlbumPass,
): Promise<void> {
  const { synced } = context
  if (task !== 'mirror' || stopped.length > 0) return
  const { stop, cut } = endingForNews(interruption)
  const unused = unusedAlbumsOf(synced, mirrors)
  const ids = new Set(unused.map(({ album }) => album.id))
  // Albums that the host was asked to delete are left to `recoverAlbumDeletions`.
  const needed = synced.unusedAlbums
    .all()
    .filter(({ album, state }) => state !== 'deleting' && !ids.has(album))
  if (needed.length > 0)
    await synced.commit(tx => {
      for (const { album } of needed) albumNeeded(tx, album)
    })
  if (whyNoDeletions(context, mirrors) !== null) return
  const remote = new Set(unused.map(({ album }) => album.remote_id))
  for (const { album } of unused) {
    if (stop.aborted) return
    const failure = await advance(context, album, remote, cut)
    if (failure) return void stopped.push(failure)
  }
}

/** Finds out what became of album deletions whose answers were lost. Until then nothing is uploaded into such an album, because
 * the host may carry out the first request late. */
export async function recoverAlbumDeletions(
  context: AlbumPort,
  { mirrors, interruption: { stop, cut }, task, stopped }: AlbumPass,
): Promise<void> {
  const { synced } = context
  if (task !== 'mirror' && task !== 'retry') return
  const open = synced.unusedAlbums.all().filter(({ state }) => state === 'deleting')
  for (const { album } of open) {
    const row = synced.albums.byId(album)
    if (stop.aborted) return
    // The record is gone, because an album above was found gone.
    if (!row) continue
    if (whyNoDeletions(context, mirrors) !== null) return
    const failure = await advance(context, row, new Set(), cut)
    if (failure) return void stopped.push(failure)
  }
}

/** Takes an unused album a step further: one pass sees it empty, a later one deletes it. `unused`: the ids of all such. */
async function advance(
  context: AlbumPort,
  album: AlbumRow,
  unused: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, host, clock, credentialLifetimeMs } = context
  const { unusedAlbums, commit } = synced
  const before = unusedAlbums.at(album.id)
  const now = clock.monotonic()
  const age = before === undefined ? 0 : now - before.since
  if (before?.state === 'occupied' && age < LEFT_ALONE_MS) return null
  if (before?.state === 'empty' && age <= mayArriveFor(credentialLifetimeMs)) return null
  // The album stays as it is while an upload into it or below it is open.
  if (isUnderWay(synced, treeOf(synced, album))) return null
  // While a request to delete the album may still arrive, it stays `deleting`, so that nothing is uploaded into it.
  const mayArrive = before?.state === 'deleting' && age <= mayArriveFor(credentialLifetimeMs)
  const record = async (change: (tx: Tx) => void) => {
    if (!mayArrive) await commit(change)
  }
  const is = (state: 'empty' | 'occupied') => record(tx => albumUnused(tx, album.id, state, now))
  const walk = await walkWhole(host, album.remote_id, signal)
  if (!walk.ok) {
    if (walk.failure.remedy === 'gone') return recordUnknown(context, album, before?.state === 'deleting')
    if (!isOfThisOne(walk.failure)) return walk.failure
    await is('occupied')
    return null
  }
  const { albums, images, complete } = walk.value
  if (whyAlbumIsNeeded(synced, album) !== null) await record(tx => albumNeeded(tx, album.id))
  else if (images.length > 0 || albums.some(({ id }) => !unused.has(id))) await is('occupied')
  else if (!complete) return null
  else if (before === undefined || before.state === 'occupied') await is('empty')
  // The albums in it were deleted before, and the host may be late to show that. A later pass deletes this one.
  else if (albums.length === 0) return deleteEmpty(context, album, before.since, signal)
  return null
}

/** The host does not know the album. When it was `deleting`, it counts as deleted. Otherwise its record is put in doubt. */
async function recordUnknown(
  { synced, clock, contents }: AlbumPort,
  album: AlbumRow,
  deleting: boolean,
): Promise<null> {
  const { commit } = synced
  for (const { id } of treeOf(synced, album)) contents.forget(id)
  await commit(tx => {
    if (deleting) return albumGone(tx, album, clock.wall())
    albumNeeded(tx, album.id)
    albumInDoubt(tx, album.remote_id)
  })
  return null
}

async function deleteEmpty(
  context: AlbumPort,
  album: AlbumRow,
  since: number,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, clock, emit, contents } = context
  const name = albumName(synced, album.id)
  const tree = treeOf(synced, album)
  const deletion: Deletion = {
    target: { album: album.remote_id },
    intend: tx => albumUnused(tx, album.id, 'deleting', since),
    whyNot: () => whyAlbumIsNeeded(synced, album),
    done: tx => albumGone(tx, album, clock.wall()),
    notDone: (tx, refusal) =>
      isOfThisOne(refusal)
        ? albumUnused(tx, album.id, 'occupied', clock.monotonic())
        : albumUnused(tx, album.id, 'empty', since),
  }
  const refusal = await sendDelete(context, deletion, signal)
  if (refusal) return isOfThisOne(refusal) ? null : refusal
  for (const { id } of tree) contents.forget(id)
  emit({ event: 'album_deleted', album: name })
  return null
}

/** Why an album that was empty is needed after all, or null: an image or an intent may name it by now. */
function whyAlbumIsNeeded(synced: Synced, album: AlbumRow): Reason | null {
  const tree = treeOf(synced, album)
  const holds = tree.some(({ id }) => synced.images.countInAlbum(id) > 0)
  return holds || isUnderWay(synced, tree) ? because('album_needed') : null
}

/** An album that no folder needs, as far as the records tell. */
interface FolderlessAlbum {
  album: AlbumRow
  /** The names from the host's root to the album. */
  path: string[]
}

/** The albums that no folder needs, deepest first. Such an album is below the album of exactly one mirror, which is in the config
 * and does not keep images. It holds no mirror's own album, and no recorded folder belongs to it. */
function folderlessAlbums(
  synced: Synced,
  policies: readonly MirrorPolicy[],
  albums: readonly AlbumRow[],
): FolderlessAlbum[] {
  const mirrors = synced.mirrors.all().map(({ id, folder, album }) => ({
    id,
    album,
    root: albumPathOf(album, ''),
    propagates: policies.some(policy => policy.folder === folder && policy.deletions === 'propagate'),
  }))
  const needed = new Map<number, ReadonlySet<string>>()
  /** The paths of the albums that the mirror's folders need. */
  const neededBy = ({ id, album }: { id: number; album: string }) => {
    const paths =
      needed.get(id) ??
      new Set(synced.folders.ofMirror(id).map(({ path }) => keyOf(albumPathOf(album, path))))
    needed.set(id, paths)
    return paths
  }
  const isFolderless = ({ path }: FolderlessAlbum) => {
    if (mirrors.some(({ root }) => startsWith(root, path))) return false
    const above = mirrors.filter(({ root }) => startsWith(path, root))
    const [only] = above
    if (!only || above.length > 1 || !only.propagates) return false
    return !neededBy(only).has(keyOf(path))
  }
  return albums
    .map(album => ({ album, path: albumNames(synced, album.id) }))
    .filter(isFolderless)
    .sort((a, b) => b.path.length - a.path.length)
}

/** The albums that albumd created and that neither a folder nor an image needs, deepest first. */
export function unusedAlbumsOf(synced: Synced, policies: readonly MirrorPolicy[]): FolderlessAlbum[] {
  const unused = synced.unusedAlbums.unused()
  if (unused.length === 0) return []
  const found = new Set<number>()
  return folderlessAlbums(synced, policies, unused).filter(({ album: { id } }) => {
    const isUnused = synced.unusedAlbums.below(id).every(child => found.has(child.id))
    if (isUnused) found.add(id)
    return isUnused
  })
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path)
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((name, at) => path[at] === name)
}
