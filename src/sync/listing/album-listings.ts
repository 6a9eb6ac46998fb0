import type { AlbumRecord } from '../../protocol/records.ts'
import type { ImageHost, Outcome } from '../../remote/host.ts'
import { listingChanges } from './album-contents.ts'
import { walkWhole } from './walk.ts'

type AlbumsByName = ReadonlyMap<string, readonly AlbumRecord[]>

/**
 * Which albums the host lists (§4.4), each parent walked once for all the names in it. It lives for one pass. Parents
 * are ids of the host; null is its root.
 */
export class AlbumListings {
  readonly #host: ImageHost
  readonly #walks = new Map<string | null, Promise<Outcome<AlbumsByName>>>()

  constructor(host: ImageHost) {
    this.#host = host
  }

  /** The albums of this name in `parent`. A walk that failed is not remembered. */
  async named(
    parent: string | null,
    name: string,
    signal: AbortSignal,
  ): Promise<Outcome<readonly AlbumRecord[]>> {
    const walked = await (this.#walks.get(parent) ?? this.#walk(parent, signal))
    return walked.ok ? { ok: true, value: walked.value.get(name) ?? [] } : walked
  }

  /** Whether `parent` was seen to hold an album of this id, under whatever name. */
  async showed(parent: string | null, id: string): Promise<boolean> {
    const walked = await this.#walks.get(parent)
    if (!walked?.ok) return false
    return [...walked.value.values()].some(twins => twins.some(album => album.id === id))
  }

  /** Nothing is in an album that was made just now. */
  expectEmpty(album: string): void {
    this.#walks.set(album, Promise.resolve({ ok: true, value: new Map() }))
  }

  /** What was seen in `parent` may be so no longer: it is walked again. */
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
