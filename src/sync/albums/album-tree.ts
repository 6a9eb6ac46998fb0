import { albumInDoubt } from '../../records/albums.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { type Album, keyOf } from '../album.ts'
import { type AlbumContents, AlbumListings } from '../listing/index.ts'
import { AlbumMaker, type AlbumMakerParts } from './album-maker.ts'

/**
 * The albums that mirrors hang in. An album is made when its first image needs it; one of its name that is there
 * already is used, never doubled. A tree lives for one pass: what it learns of the host is good for as long.
 */
export class AlbumTree {
  readonly #synced: Synced
  readonly #contents: AlbumContents
  readonly #listings: AlbumListings
  readonly #maker: AlbumMaker
  /** One search or creation a name at a time, or two uploads would make twins. */
  readonly #underWay = new Map<string, Promise<Outcome<Album>>>()
  /**
   * By the host's ids, the albums whose NOT_FOUND has nothing more to tell: their record was put in doubt, or they were
   * made just now, and a host that is late to know them would get a twin.
   */
  readonly #doubted = new Map<string, Promise<void>>()

  constructor(parts: AlbumMakerParts) {
    this.#synced = parts.synced
    this.#contents = parts.contents
    this.#listings = new AlbumListings(parts.host)
    this.#maker = new AlbumMaker(parts, this.#listings, id => this.#doubted.set(id, Promise.resolve()))
  }

  /** The album at `path`, where it is there already; undefined where it, or one above it, is not. */
  async lookUp(path: readonly string[], signal: AbortSignal): Promise<Outcome<Album | undefined>> {
    let parent: Album = null
    for (const name of path) {
      const next: Outcome<Album | undefined> = await this.#existingChildOf(parent, name, signal)
      if (!next.ok || next.value === undefined) return next
      parent = next.value
    }
    return { ok: true, value: parent }
  }

  /** The album at `path`, or the deepest one above it that can be had: a plan or a depth limit is no failure. */
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
   * The same, after the host answered NOT_FOUND for the album `lost`: it is looked for again, then made again. Once a
   * pass: a host that lists an album which it does not know is no reason to make another.
   */
  async lookAgain(path: readonly string[], signal: AbortSignal, lost: AlbumRow): Promise<Outcome<Album>> {
    await this.doubt(lost)
    return this.find(path, signal)
  }

  /**
   * The host did not know the album. Answers whether the records no longer vouch for it: in doubt, or another one in its
   * place by now.
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

/** The host will not have an album there: a plan without them, or its depth limit. */
function cannotBeMade(failure: HostFailure): boolean {
  return (
    failure.endpoint === 'create_album' && (failure.remedy === 'plan' || failure.remedy === 'change_request')
  )
}
