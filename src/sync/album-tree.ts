import type { HostFailure, ImageHost, Outcome } from '../remote/host.ts'
import type { AlbumRow } from '../synced/albums.ts'
import type { Synced } from '../synced/synced.ts'
import type { Clock } from './clock.ts'
import type { Tell } from './pass-events.ts'

/** Where an image goes: an album, or null for the host's root. */
export type Album = AlbumRow | null

/**
 * The albums that mirrors hang in. An album is made when its first image needs it; one of its name that is there
 * already is used, never doubled.
 */
export class AlbumTree {
  readonly #synced: Synced
  readonly #host: ImageHost
  readonly #clock: Clock
  readonly #tell: Tell
  /** One search or creation a name at a time, or two uploads would make twins. */
  readonly #underWay = new Map<string, Promise<Outcome<Album>>>()

  constructor(synced: Synced, host: ImageHost, clock: Clock, tell: Tell) {
    this.#synced = synced
    this.#host = host
    this.#clock = clock
    this.#tell = tell
  }

  /** The album at `path`, or the deepest one above it that can be had: a plan or a depth limit is no failure. */
  async find(path: readonly string[], signal: AbortSignal): Promise<Outcome<Album>> {
    let parent: Album = null
    for (const name of path) {
      const next = await this.#childOf(parent, name, signal)
      if (!next.ok) return cannotBeMade(next.failure) ? { ok: true, value: parent } : next
      parent = next.value
    }
    return { ok: true, value: parent }
  }

  /** The host does not know this album any more: it is looked for again, then made again. */
  async lookAgain(path: readonly string[], signal: AbortSignal): Promise<Outcome<Album>> {
    await this.#synced.commit(() => this.#forget(path))
    return this.find(path, signal)
  }

  #forget(path: readonly string[]): void {
    let parent: Album = null
    for (const name of path) {
      const known = this.#synced.albums.named(parent?.id ?? null, name)
      if (!known) return
      this.#synced.albums.setConfirmed(known.id, false)
      parent = known
    }
  }

  #childOf(parent: Album, name: string, signal: AbortSignal): Promise<Outcome<Album>> {
    const known = this.#synced.albums.named(parent?.id ?? null, name)
    if (known?.confirmed) return Promise.resolve({ ok: true, value: known })
    const key = `${parent?.id ?? 0}/${name}`
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
    const found = await this.#search(parent, name, recorded, signal)
    // A plan that can't list can still create: nothing but us can say that it is there.
    if (!found.ok && found.failure.remedy !== 'plan') return found
    if (found.ok && found.value) return this.#record(parent, name, found.value, false)
    return this.#create(parent, name, signal)
  }

  /** The id of the album of this name, of twins the recorded one, else the one that holds most, else the oldest. */
  async #search(
    parent: Album,
    name: string,
    recorded: string | undefined,
    signal: AbortSignal,
  ): Promise<Outcome<string | null>> {
    const found = new Map<string, { id: string; image_count: number; created_at: string }>()
    for (let page = 1, last = 1; page <= last; page++) {
      const listed = await this.#host.list(parent?.remote_id ?? null, page, signal)
      if (!listed.ok) return listed
      for (const album of listed.value.albums) if (album.name === name) found.set(album.id, album)
      last = listed.value.pagination.total_pages
    }
    if (recorded !== undefined && found.has(recorded)) return { ok: true, value: recorded }
    const [best] = [...found.values()].sort(
      (a, b) => b.image_count - a.image_count || Date.parse(a.created_at) - Date.parse(b.created_at),
    )
    return { ok: true, value: best?.id ?? null }
  }

  async #create(parent: Album, name: string, signal: AbortSignal): Promise<Outcome<Album>> {
    const { journal } = this.#synced
    const intent = await this.#synced.commit(() =>
      journal.openAlbumCreation(parent?.id ?? null, name, this.#clock.wall()),
    )
    const created = await this.#host.createAlbum({ name, parent_album: parent?.remote_id ?? null }, signal)
    if (!created.ok) {
      // Not knowing whether it is there, the next search will tell; either way this intent has served.
      await this.#synced.commit(() => journal.close(intent))
      return created
    }
    const album = await this.#record(parent, name, created.value.id, true, intent)
    this.#tell({ event: 'album_created', album: this.#pathOf(album.value) })
    return album
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

/** The host will not have an album there: a plan without them, or its depth limit. */
function cannotBeMade(failure: HostFailure): boolean {
  return (
    failure.endpoint === 'create_album' && (failure.remedy === 'plan' || failure.remedy === 'change_request')
  )
}
