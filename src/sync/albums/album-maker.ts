import type { AlbumRecord } from '../../protocol/records.ts'
import { type AlbumOrigin, albumFound } from '../../records/albums.ts'
import type { HostFailure, ImageHost, Outcome, Remedy } from '../../remote/host.ts'
import { failing } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because } from '../../words/reasons.ts'
import { type Album, keyOf } from '../album.ts'
import { type Clock, mayArriveFor } from '../clock.ts'
import type { AlbumContents, AlbumListings } from '../listing/index.ts'
import type { Tell } from '../pass-events.ts'
import { lostAt } from '../state-loss.ts'

export interface AlbumMakerParts {
  synced: Synced
  host: ImageHost
  clock: Clock
  tell: Tell
  contents: AlbumContents
  credentialLifetimeMs: number
}

/** Finds albums on the host by their names, or makes them, each once. It lives for one pass. */
export class AlbumMaker {
  readonly #synced: Synced
  readonly #host: ImageHost
  readonly #clock: Clock
  readonly #tell: Tell
  readonly #contents: AlbumContents
  readonly #mayArriveMs: number
  readonly #listings: AlbumListings
  readonly #onMade: (remoteId: string) => void
  /** Why no album of a name is made in a parent: asked again, the host would say the same, or make a twin. */
  readonly #refusals = new Map<string, HostFailure>()

  constructor(parts: AlbumMakerParts, listings: AlbumListings, onMade: (remoteId: string) => void) {
    this.#synced = parts.synced
    this.#host = parts.host
    this.#clock = parts.clock
    this.#tell = parts.tell
    this.#contents = parts.contents
    this.#mayArriveMs = mayArriveFor(parts.credentialLifetimeMs)
    this.#listings = listings
    this.#onMade = onMade
  }

  /** `recorded`: the record of this name. `blind`: a person wants it even where nobody can look. */
  async findOrMake(
    parent: Album,
    name: string,
    recorded: AlbumRow | undefined,
    signal: AbortSignal,
    blind: boolean,
  ): Promise<Outcome<Album>> {
    const listed = await this.search(parent, name, recorded, signal)
    // A plan that can't list can still create: nothing but us can say that it is there. Old records can't.
    const isUnknown = this.#synced.meta.get('restored') !== null
    const mayCreate = blind || !isUnknown
    if (!listed.ok && (listed.failure.remedy !== 'plan' || !mayCreate)) return listed
    if (!listed.ok && recorded?.blind) return { ok: true, value: recorded }
    if (listed.ok && listed.value) return { ok: true, value: listed.value }
    const late = await this.#whyNotYet(parent, name, listed.ok, signal)
    if (late) return { ok: false, failure: late }
    // The second look, after which nothing can arrive any more.
    const again = await this.search(parent, name, recorded, signal)
    if (!again.ok && again.failure.remedy !== 'plan') return again
    if (again.ok && again.value) return { ok: true, value: again.value }
    return this.#make(parent, name, isUnknown && !again.ok, signal)
  }

  /** The album of this name that the host lists, recorded; undefined where it lists none. */
  async search(
    parent: Album,
    name: string,
    recorded: AlbumRow | undefined,
    signal: AbortSignal,
  ): Promise<Outcome<AlbumRow | undefined>> {
    const listed = await this.#listings.named(parent?.remote_id ?? null, name, signal)
    if (!listed.ok) return listed
    const found = choose(listed.value, recorded?.blind ? undefined : recorded?.remote_id)
    if (recorded && found?.id !== recorded.remote_id && this.#isAwaited(recorded))
      return { ok: false, failure: stillUploaded(name) }
    return found ? this.#record(parent, name, found.id, 'listed') : { ok: true, value: undefined }
  }

  /** Where what became of uploads is looked for in an album, nothing else may take its record meanwhile. */
  #isAwaited({ id, blind }: AlbumRow): boolean {
    return blind === 1 && this.#synced.journal.openUploads().some(({ album }) => album === id)
  }

  /**
   * Why an album that is not listed is not made yet, or null: one that was asked for or made a short time ago may be
   * listed late, and another would be its twin.
   */
  async #whyNotYet(
    parent: Album,
    name: string,
    canList: boolean,
    signal: AbortSignal,
  ): Promise<HostFailure | null> {
    const { albums, journal } = this.#synced
    const asked = journal.openCreation(parent?.id ?? null, name)
    const made = albums.named(parent?.id ?? null, name)?.made_at
    const times = [asked?.sent_at, made, lostAt(this.#synced)].filter(at => at !== undefined && at !== null)
    const since = Math.max(...times)
    if (since === Number.NEGATIVE_INFINITY) return null
    if (this.#clock.monotonic() - since <= this.#mayArriveMs) return notYet(name)
    if (asked && !canList) return neverKnown(name)
    this.#listings.forget(parent?.remote_id ?? null)
    return signal.aborted ? notYet(name) : null
  }

  /** `blind`: another of its name may be there, and nobody can look. */
  async #make(parent: Album, name: string, blind: boolean, signal: AbortSignal): Promise<Outcome<Album>> {
    const refusal = this.#refusals.get(keyOf(parent, name))
    if (refusal) return { ok: false, failure: refusal }
    const { journal, commit } = this.#synced
    const intent = await commit(tx => {
      const before = journal.openCreation(parent?.id ?? null, name)
      if (before) tx.journal.close(before.id)
      const time = { since: this.#clock.wall(), sent_at: Math.round(this.#clock.monotonic()) }
      return tx.journal.openAlbumCreation(parent?.id ?? null, name, time)
    })
    const created = await this.#host.createAlbum({ name, parent_album: parent?.remote_id ?? null }, signal)
    if (!created.ok) {
      // Where it may be there all the same, the intent keeps another from being made.
      if (created.failure.remedy !== 'find_out') await commit(tx => tx.journal.close(intent))
      this.#noteRefusal(parent, name, created.failure)
      return created
    }
    const { id } = created.value
    // Some hosts change names, and answer with an album that has the changed one already: it is not made, nor empty.
    if (await this.#wasThere(parent, id)) return this.#record(parent, name, id, 'listed')
    this.#listings.expectEmpty(id)
    this.#onMade(id)
    const album = await this.#record(parent, name, id, blind ? 'made blind' : 'made')
    if (!blind) this.#contents.expectEmpty(album.value)
    this.#tell({ event: 'album_created', album: this.#pathOf(album.value) })
    return album
  }

  async #wasThere(parent: Album, id: string): Promise<boolean> {
    if (this.#synced.albums.byRemoteId(id)) return true
    return this.#listings.showed(parent?.remote_id ?? null, id)
  }

  #noteRefusal(parent: Album, name: string, failure: HostFailure): void {
    if (LASTING.has(failure.remedy)) this.#refusals.set(keyOf(parent, name), failure)
    if (failure.remedy === 'find_out') this.#listings.forget(parent?.remote_id ?? null)
  }

  async #record(parent: Album, name: string, remoteId: string, how: AlbumOrigin) {
    const place = { parent: parent?.id ?? null, name, remoteId }
    const value = await this.#synced.commit(tx => albumFound(tx, place, how, this.#clock.monotonic()))
    return { ok: true as const, value }
  }

  #pathOf(album: AlbumRow): string {
    const above = album.parent === null ? undefined : this.#synced.albums.byId(album.parent)
    return above ? `${this.#pathOf(above)}/${album.name}` : album.name
  }
}

/** After these a creation is not tried again in the same pass: the host would say no again, or make a twin. */
const LASTING: ReadonlySet<Remedy> = new Set(['plan', 'change_request', 'not_permitted', 'find_out'])

/** The pictures of the album wait; others go on. */
function notYet(name: string): HostFailure {
  return { ...inDoubt, ...failing(because('album_asked_for', { name })) }
}

function stillUploaded(name: string): HostFailure {
  return { ...inDoubt, ...failing(because('album_twice', { name })) }
}

function neverKnown(name: string): HostFailure {
  return { ...inDoubt, ...failing(because('album_not_known', { name })) }
}

const inDoubt = { remedy: 'find_out', endpoint: 'create_album', code: 'ALBUM_IN_DOUBT' } as const

/** The code of an album whose creation may have happened. */
export const ALBUM_IN_DOUBT = inDoubt.code

/** Of twins the recorded one, else the one that holds most images, or most albums, else the oldest. */
function choose(twins: readonly AlbumRecord[], recorded: string | undefined): AlbumRecord | undefined {
  const [best] = twins.toSorted(
    (a, b) =>
      b.image_count - a.image_count ||
      b.sub_count - a.sub_count ||
      Date.parse(a.created_at) - Date.parse(b.created_at),
  )
  return twins.find(({ id }) => id === recorded) ?? best
}
