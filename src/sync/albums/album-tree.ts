import { albumInDoubt } from '../../records/albums.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { type Album, keyOf } from '../album.ts'
import { type AlbumContents, AlbumListings } from '../listing/index.ts'
import { type AlbumContext, AlbumMaker } from './album-maker.ts'

/**
 * The albums that pictures go into. An album is created when its first image needs it. When the host lists an album of the
 * name, that album is used. A tree lives for one pass, and so does what it learns of the host.
 */
export class AlbumTree {
  readonly #synced: Synced
  readonly #contents: AlbumContents
  readonly #listings: AlbumListings
  readonly #maker: AlbumMaker
  /** By parent and name, the search or creation under way. Two uploads that need one album wait for the same one. */
  readonly #underWay = new Map<string, Promise<Outcome<Album>>>()
  /**
   * By the host's ids, the albums for which a NOT_FOUND is to be ignored: their record was put in doubt already, or they
   * were created just now, and the host may be late to know them.
   */
  readonly #doubted = new Map<string, Promise<void>>()

  constructor(context: AlbumContext) {
    this.#synced = context.synced
    this.#contents = context.contents
    this.#listings = new AlbumListings(context.host)
    this.#maker = new AlbumMaker(context, this.#listings, id => this.#doubted.set(id, Promise.resolve()))
  }

  /** The album at `path`; undefined when this album, or an album above it, does not exist. Creates nothing. */
  async lookUp(path: readonly string[], signal: AbortSignal): Promise<Outcome<Album | undefined>> {
    let parent: Album = null
    for (const name of path) {
      const next: Outcome<Album | undefined> = await this.#existingChildOf(parent, name, signal)
      if (!next.ok || next.value === undefined) return next
      parent = next.value
    }
    return { ok: true, value: parent }
  }

  /**
   * The album at `path`, created where it is missing. When the account's plan or the host's depth limit does not allow an
   * album, the deepest album above it is answered instead.
   */
  async find(path: readonly string[], signal: AbortSignal, blind = false): Promise<Outcome<Album>> {
    let parent: Album = null
    for (const name of path) {
      const next = await this.#childOf(parent, name, signal, blind)
      if (!next.ok) {
        if (cannotBeMade(next.failure)) return { ok: true, value: parent }
        const lost = parent !== null && next.failure.remedy === 'gone' && (await this.doubt(parent))
        return lost ? this.find(path, signal, blind) : next
      }
      parent = next.value
    }
    return { ok: true, value: parent }
  }

  /**
   * Like `find`, after the host answered NOT_FOUND for the album `lost`: the album is looked for, and created when the host
   * lists none. This happens once a pass, because a host may list an album and answer NOT_FOUND for it.
   */
  async lookAgain(path: readonly string[], signal: AbortSignal, lost: AlbumRow): Promise<Outcome<Album>> {
    await this.doubt(lost)
    return this.find(path, signal)
  }

  /**
   * Puts the record of an album in doubt, because the host did not know the album. Answers whether the album must be looked
   * for again.
   */
  async doubt({ remote_id, parent }: AlbumRow): Promise<boolean> {
    const { albums, commit } = this.#synced
    let doubt = this.#doubted.get(remote_id)
    if (!doubt) {
      this.#listings.forget(parent === null ? null : albums.byId(parent)!.remote_id)
      doubt = commit(tx => albumInDoubt(tx, remote_id))
      const row = albums.byRemoteId(remote_id)
      if (row) this.#contents.forget(row.id)
      this.#doubted.set(remote_id, doubt)
    }
    await doubt
    return albums.byRemoteId(remote_id)?.confirmed !== 1
  }

  #childOf(parent: Album, name: string, signal: AbortSignal, blind: boolean): Promise<Outcome<Album>> {
    const known = this.#synced.albums.named(parent?.id ?? null, name)
    if (known?.confirmed) return Promise.resolve({ ok: true, value: known })
    const key = keyOf(parent, name)
    const running = this.#underWay.get(key)
    if (running) return running
    const search = this.#maker
      .findOrMake(parent, name, known, signal, blind)
      .finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, search)
    return search
  }

  async #existingChildOf(
    parent: Album,
    name: string,
    signal: AbortSignal,
  ): Promise<Outcome<Album | undefined>> {
    const known = this.#synced.albums.named(parent?.id ?? null, name)
    if (known?.confirmed) return { ok: true, value: known }
    return this.#maker.search(parent, name, known, signal)
  }
}

/** Whether the host allows no album there: the account's plan has no albums, or the depth limit is reached. */
function cannotBeMade(failure: HostFailure): boolean {
  return (
    failure.endpoint === 'create_album' && (failure.remedy === 'plan' || failure.remedy === 'change_request')
  )
}
