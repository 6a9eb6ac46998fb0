import type { ListedAlbum } from '../../protocol/records.ts'
import type { ImageHost, Outcome } from '../../remote/host.ts'
import { listingChanges } from './album-contents.ts'
import { walkWhole } from './walk.ts'

type AlbumsByName = ReadonlyMap<string, readonly ListedAlbum[]>

/**
 * Tells which albums the host lists in a parent (§4.4). Each parent is walked once in a pass. Parents are the host's ids;
 * null is the root.
 */
export class AlbumListings {
  readonly #host: ImageHost
  readonly #walks = new Map<string | null, Promise<Outcome<AlbumsByName>>>()

  constructor(host: ImageHost) {
    this.#host = host
  }

  /** The albums of this name in `parent`. After a walk that failed, the next question walks again. */
  async named(
    parent: string | null,
    name: string,
    signal: AbortSignal,
  ): Promise<Outcome<readonly ListedAlbum[]>> {
    const walked = await (this.#walks.get(parent) ?? this.#walk(parent, signal))
    return walked.ok ? { ok: true, value: walked.value.get(name) ?? [] } : walked
  }

  /** Whether the walk of `parent` showed an album with this id, under whatever name. */
  async showed(parent: string | null, id: string): Promise<boolean> {
    const walked = await this.#walks.get(parent)
    if (!walked?.ok) return false
    return [...walked.value.values()].some(twins => twins.some(album => album.id === id))
  }

  /** An album that was created just now holds nothing and need not be walked. */
  expectEmpty(album: string): void {
    this.#walks.set(album, Promise.resolve({ ok: true, value: new Map() }))
  }

  /** Makes the next question about `parent` walk it again. */
  forget(parent: string | null): void {
    this.#walks.delete(parent)
  }

  async #walk(parent: string | null, signal: AbortSignal): Promise<Outcome<AlbumsByName>> {
    const walk = this.#albumsIn(parent, signal)
    this.#walks.set(parent, walk)
    const walked = await walk
    if (!walked.ok && this.#walks.get(parent) === walk) this.#walks.delete(parent)
    return walked
  }

  async #albumsIn(parent: string | null, signal: AbortSignal): Promise<Outcome<AlbumsByName>> {
    const walk = await walkWhole(this.#host, parent, signal)
    if (walk.ok && !walk.value.settled) return { ok: false, failure: listingChanges }
    return walk.ok ? { ok: true, value: Map.groupBy(walk.value.albums, ({ name }) => name) } : walk
  }
}
