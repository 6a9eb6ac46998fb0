import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { albumPathOf } from '../album-name.ts'
import type { MirrorPolicy } from '../pass-request.ts'

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
