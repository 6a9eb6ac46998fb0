import { albumGone, albumInDoubt, treeOf } from '../../records/albums.ts'
import { isOfThisOne } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { albumName, albumPathOf, isUnderWay } from '../album.ts'
import { mayArriveFor } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import { walkWhole } from '../listing/index.ts'
import type { Interruption, MirrorPolicy } from '../pass-request.ts'
import { doubtAbout } from './hold.ts'
import { type Deletion, sendDelete } from './send-delete.ts'

type AlbumContext = Pick<
  EngineContext,
  'synced' | 'host' | 'clock' | 'tell' | 'contents' | 'credentialLifetimeMs'
>

/** How long an album is left alone that holds what is not ours, or that the host would not delete. */
const LEFT_ALONE_MS = 3_600_000

/**
 * Deletes albums that albumd made and that nothing needs, deepest first, each after two complete walks that showed
 * nothing in it: a picture that another person put there may be listed late. For the end of a pass. Answers the host's
 * failure that ended it early, or null.
 */
export async function deleteEmptyAlbums(
  context: AlbumContext,
  mirrors: readonly MirrorPolicy[],
  { stop, cut }: Interruption,
): Promise<HostFailure | null> {
  const { synced } = context
  const leaving = leavingAlbums(synced, mirrors)
  const ids = new Set(leaving.map(({ album }) => album.id))
  const needed = synced.unusedAlbums.all().filter(({ album }) => !ids.has(album))
  if (needed.length > 0)
    await synced.commit(tx => {
      for (const { album } of needed) tx.unusedAlbums.remove(album)
    })
  if (doubtAbout(synced, mirrors) !== null) return null
  const remote = new Set(leaving.map(({ album }) => album.remote_id))
  for (const { album } of leaving) {
    if (stop.aborted) return null
    const failure = await consider(context, album, remote, cut)
    if (failure) return failure
  }
  return null
}

/**
 * Finds out about deletions of albums that may have been done, by repeating them: one that is served late must not take
 * with it what is uploaded by then. For the start of a pass.
 */
export async function repeatAlbumDeletions(
  context: AlbumContext,
  mirrors: readonly MirrorPolicy[],
  { stop, cut }: Interruption,
): Promise<HostFailure | null> {
  const { synced } = context
  const open = synced.unusedAlbums.all().filter(({ state }) => state === 'deleting')
  if (open.length === 0 || doubtAbout(synced, mirrors) !== null) return null
  const unused = new Map(synced.unusedAlbums.unused().map(album => [album.id, album]))
  for (const { album } of open) {
    const row = unused.get(album)
    if (stop.aborted) return null
    if (!row || synced.unusedAlbums.below(album).length > 0) continue
    const failure = await consider(context, row, new Set(), cut)
    if (failure) return failure
  }
  return null
}

/** `leaving`: the host's ids of the albums that go too. */
async function consider(
  context: AlbumContext,
  album: AlbumRow,
  leaving: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, host, clock, credentialLifetimeMs } = context
  const { unusedAlbums, commit } = synced
  const before = unusedAlbums.at(album.id)
  const now = clock.monotonic()
  const age = before === undefined ? 0 : now - before.since
  if (before?.state === 'occupied' && age < LEFT_ALONE_MS) return null
  if (before?.state === 'empty' && age <= mayArriveFor(credentialLifetimeMs)) return null
  // Others may have deleted what is recorded below it; what is on its way there is waited for.
  if (isUnderWay(synced, treeOf(synced, album))) return null
  // One that may be deleted by a request that is late stays so until none can arrive.
  const mayGo = before?.state === 'deleting' && age <= mayArriveFor(credentialLifetimeMs)
  const is = async (state: 'empty' | 'occupied') => {
    if (!mayGo) await commit(tx => tx.unusedAlbums.put({ album: album.id, since: now, state }))
  }
  const walk = await walkWhole(host, album.remote_id, signal)
  if (!walk.ok) {
    if (walk.failure.remedy === 'gone') return lost(context, album, before?.state === 'deleting')
    if (!isOfThisOne(walk.failure)) return walk.failure
    await is('occupied')
    return null
  }
  const { albums, images, complete } = walk.value
  if (images.length > 0 || albums.some(({ id }) => !leaving.has(id))) await is('occupied')
  else if (!complete) return null
  else if (before === undefined || before.state === 'occupied') await is('empty')
  // Its sub-albums go first, and a host may be late to show that they are gone.
  else if (albums.length === 0) return deleteEmpty(context, album, before.since, signal)
  return null
}

/** The host does not know it: a deletion of ours was done, or it is another's matter, which a search finds out. */
async function lost(
  { synced, clock, contents }: AlbumContext,
  album: AlbumRow,
  deleting: boolean,
): Promise<null> {
  const { commit } = synced
  for (const { id } of treeOf(synced, album)) contents.forget(id)
  await commit(tx => {
    if (deleting) return albumGone(tx, album, clock.wall())
    tx.unusedAlbums.remove(album.id)
    albumInDoubt(tx, album.remote_id)
  })
  return null
}

async function deleteEmpty(
  context: AlbumContext,
  album: AlbumRow,
  since: number,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, clock, tell, contents } = context
  const name = albumName(synced, album.id)
  const tree = treeOf(synced, album)
  const deletion: Deletion = {
    target: { album: album.remote_id },
    intend: tx => tx.unusedAlbums.put({ album: album.id, since, state: 'deleting' }),
    whyNot: () => whyAlbumIsNeeded(synced, album),
    done: tx => albumGone(tx, album, clock.wall()),
    notDone: (tx, refusal) =>
      tx.unusedAlbums.put(
        isOfThisOne(refusal)
          ? { album: album.id, since: clock.monotonic(), state: 'occupied' }
          : { album: album.id, since, state: 'empty' },
      ),
  }
  const refusal = await sendDelete(context, deletion, signal)
  if (refusal) return isOfThisOne(refusal) ? null : refusal
  for (const { id } of tree) contents.forget(id)
  tell({ event: 'album_deleted', album: name })
  return null
}

/** Why an album that was seen empty is needed after all, or null: an image or an intent names it by now. */
function whyAlbumIsNeeded(synced: Synced, album: AlbumRow): Reason | null {
  const tree = treeOf(synced, album)
  const holds = tree.some(({ id }) => synced.images.countInAlbum(id) > 0)
  return holds || isUnderWay(synced, tree) ? because('album_needed') : null
}

/** An album that may be given up, as far as the records tell. */
export interface LeavingAlbum {
  album: AlbumRow
  /** From the host's root. */
  path: string[]
}

/**
 * Tells which albums no folder needs: they lie below the album of a mirror that propagates deletions, no mirror hangs
 * in them, and no folder on the disk stands for them. A mirror that is out of the config keeps what is below it.
 */
export class FolderlessAlbums {
  readonly #synced: Synced
  readonly #mirrors: { id: number; album: string; root: string[]; propagates: boolean }[]
  readonly #standing = new Map<number, Set<string>>()

  constructor(synced: Synced, policies: readonly MirrorPolicy[]) {
    this.#synced = synced
    this.#mirrors = synced.mirrors.all().map(({ id, folder, album }) => ({
      id,
      album,
      root: albumPathOf(album, ''),
      propagates: policies.some(policy => policy.folder === folder && policy.deletions === 'propagate'),
    }))
  }

  pathOf(album: AlbumRow): string[] {
    const path = [album.name]
    for (let at = album.parent; at !== null; ) {
      const above = this.#synced.albums.byId(at)!
      path.unshift(above.name)
      at = above.parent
    }
    return path
  }

  /** Whether no folder needs the album at this path, of `mirror` where one is given. */
  has(path: readonly string[], mirror?: number): boolean {
    if (this.#mirrors.some(({ root }) => startsWith(root, path))) return false
    const above = this.#mirrors.filter(({ root }) => startsWith(path, root))
    const [only] = above
    if (!only || above.length > 1 || !only.propagates || (mirror !== undefined && only.id !== mirror))
      return false
    return !this.#albumsOf(only).has(keyOf(path))
  }

  /** Where the mirror's folders are mirrored. */
  #albumsOf({ id, album }: { id: number; album: string }): Set<string> {
    const known = this.#standing.get(id)
    if (known) return known
    const albums = new Set(
      this.#synced.folders.ofMirror(id).map(({ path }) => keyOf(albumPathOf(album, path))),
    )
    this.#standing.set(id, albums)
    return albums
  }
}

/** The albums that albumd made and that neither a folder nor an image needs, deepest first. */
export function leavingAlbums(synced: Synced, policies: readonly MirrorPolicy[]): LeavingAlbum[] {
  const unused = synced.unusedAlbums.unused()
  if (unused.length === 0) return []
  const folderless = new FolderlessAlbums(synced, policies)
  const candidates = unused
    .map(album => ({ album, path: folderless.pathOf(album) }))
    .filter(({ path }) => folderless.has(path))
    .sort((a, b) => b.path.length - a.path.length)
  const leaving = new Set<number>()
  return candidates.filter(({ album: { id } }) => {
    const goes = synced.unusedAlbums.below(id).every(child => leaving.has(child.id))
    if (goes) leaving.add(id)
    return goes
  })
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path)
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((name, at) => path[at] === name)
}
