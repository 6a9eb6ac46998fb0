import type { AlbumRecord } from '../protocol/records.ts'
import type { HostFailure, ImageHost, Outcome, Remedy } from '../remote/host.ts'
import type { AlbumRow } from '../synced/albums.ts'
import type { Synced } from '../synced/synced.ts'
import { AlbumListings } from './album-listings.ts'
import type { Clock } from './clock.ts'
import type { Tell } from './pass-events.ts'

/** Where an image goes: an album, or null for the host's root. */
export type Album = AlbumRow | null

/**
 * The albums that mirrors hang in. An album is made when its first image needs it; one of its name that is there
 * already is used, never doubled. A tree lives for one pass: what it learns of the host is good for as long.
 */
export class AlbumTree {
  readonly #synced: Synced
  readonly #host: ImageHost
  readonly #clock: Clock
  readonly #tell: Tell
  readonly #listings: AlbumListings
  /** One search or creation a name at a time, or two uploads would make twins. */
  readonly #underWay = new Map<string, Promise<Outcome<Album>>>()
  /** Why no album of a name is made in a parent: asked again, the host would say the same, or make a twin. */
  readonly #refusals = new Map<string, HostFailure>()
  /**
   * By the host's ids, the albums whose NOT_FOUND has nothing more to tell: their record was put in doubt, or they were
   * made just now, and a host that is late to know them would get a twin.
   */
  readonly #doubted = new Map<string, Promise<void>>()

  constructor(synced: Synced, host: ImageHost, clock: Clock, tell: Tell) {
    this.#synced = synced
    this.#host = host
    this.#clock = clock
    this.#tell = tell
    this.#listings = new AlbumListings(host)
  }

  /** The album at `path`, or the deepest one above it that can be had: a plan or a depth limit is no failure. */
  async find(path: readonly string[], signal: AbortSignal): Promise<Outcome<Album>> {
    let parent: Album = null
    for (const name of path) {
      const next = await this.#childOf(parent, name, signal)
      if (!next.ok) {
        if (cannotBeMade(next.failure)) return { ok: true, value: parent }
        const lost = parent !== null && next.failure.remedy === 'gone' && (await this.#doubt(parent))
        return lost ? this.find(path, signal) : next
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
    await this.#doubt(lost)
    return this.find(path, signal)
  }

  /** Whether the records no longer vouch for the album: in doubt, or another one in its place by now. */
  async #doubt({ remote_id, parent }: AlbumRow): Promise<boolean> {
    const { albums, commit } = this.#synced
    let doubt = this.#doubted.get(remote_id)
    if (!doubt) {
      this.#listings.forget(parent === null ? null : albums.byId(parent)!.remote_id)
      doubt = commit(() => albums.doubt(remote_id))
      this.#doubted.set(remote_id, doubt)
    }
    await doubt
    return albums.byRemoteId(remote_id)?.confirmed !== 1
  }

  #childOf(parent: Album, name: string, signal: AbortSignal): Promise<Outcome<Album>> {
    const known = this.#synced.albums.named(parent?.id ?? null, name)
    if (known?.confirmed) return Promise.resolve({ ok: true, value: known })
    const key = keyOf(parent, name)
    const running = this.#underWay.get(key)
    if (running) return running
    const search = this.#searchOrCreate(parent, name, known?.remote_id, signal).finally(() =>
      this.#underWay.delete(key),
    )
    this.#underWay.set(key, search)
    return search
  }

  async #searchOrCreate(
    parent: Album,
    name: string,
    recorded: string | undefined,
    signal: AbortSignal,
  ): Promise<Outcome<Album>> {
    const listed = await this.#listings.named(parent?.remote_id ?? null, name, signal)
    // A plan that can't list can still create: nothing but us can say that it is there.
    if (!listed.ok && listed.failure.remedy !== 'plan') return listed
    const found = listed.ok ? choose(listed.value, recorded) : undefined
    return found ? this.#record(parent, name, found.id, false) : this.#create(parent, name, signal)
  }

  async #create(parent: Album, name: string, signal: AbortSignal): Promise<Outcome<Album>> {
    const refusal = this.#refusals.get(keyOf(parent, name))
    if (refusal) return { ok: false, failure: refusal }
    const { journal, commit } = this.#synced
    const intent = await commit(() => journal.openAlbumCreation(parent?.id ?? null, name, this.#clock.wall()))
    const created = await this.#host.createAlbum({ name, parent_album: parent?.remote_id ?? null }, signal)
    if (!created.ok) {
      // Not knowing whether it is there, the next search will tell; either way this intent has served.
      await commit(() => journal.close(intent))
      this.#noteRefusal(parent, name, created.failure)
      return created
    }
    const { id } = created.value
    this.#listings.expectEmpty(id)
    this.#doubted.set(id, Promise.resolve())
    const album = await this.#record(parent, name, id, true, intent)
    this.#tell({ event: 'album_created', album: this.#pathOf(album.value) })
    return album
  }

  #noteRefusal(parent: Album, name: string, failure: HostFailure): void {
    if (LASTING.has(failure.remedy)) this.#refusals.set(keyOf(parent, name), failure)
    if (failure.remedy === 'find_out') this.#listings.forget(parent?.remote_id ?? null)
  }

  async #record(parent: Album, name: string, remoteId: string, ours: boolean, intent?: number) {
    const value = await this.#synced.commit(() => {
      if (intent !== undefined) this.#synced.journal.close(intent)
      return this.#synced.albums.put(parent?.id ?? null, name, remoteId, ours)
    })
    return { ok: true as const, value }
  }

  #pathOf(album: AlbumRow): string {
    const above = album.parent === null ? undefined : this.#synced.albums.byId(album.parent)
    return above ? `${this.#pathOf(above)}/${album.name}` : album.name
  }
}

/** After these a creation is not tried again in the same pass: the host would say no again, or make a twin. */
const LASTING: ReadonlySet<Remedy> = new Set(['plan', 'change_request', 'not_permitted', 'find_out'])

/** No two are alike: a name holds no slash. */
function keyOf(parent: Album, name: string): string {
  return `${parent?.remote_id ?? ''}/${name}`
}

/** Of twins the recorded one, else the one that holds most, else the oldest. */
function choose(twins: readonly AlbumRecord[], recorded: string | undefined): AlbumRecord | undefined {
  const [best] = twins.toSorted(
    (a, b) => b.image_count - a.image_count || Date.parse(a.created_at) - Date.parse(b.created_at),
  )
  return twins.find(({ id }) => id === recorded) ?? best
}

/** The host will not have an album there: a plan without them, or its depth limit. */
function cannotBeMade(failure: HostFailure): boolean {
  return (
    failure.endpoint === 'create_album' && (failure.remedy === 'plan' || failure.remedy === 'change_request')
  )
}
