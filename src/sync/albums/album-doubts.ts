import { albumInDoubt } from '../../records/albums.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Album } from '../album.ts'
import { mayArriveFor } from '../clock.ts'
import type { AlbumPort } from '../context.ts'
import { type AlbumListings, showsItsOwn, unlistedIn } from '../listing/index.ts'

/** Finds out, once in a pass, which albums are gone. Only a listing proves that: a host may answer NOT_FOUND for an album that is
 * too deep or too new. Without listings no album is put in doubt, because a second one of its name would be created. */
export class AlbumDoubts {
  readonly #context: AlbumPort
  readonly #listings: AlbumListings
  /** The albums, by the host's ids, for which a NOT_FOUND is ignored: they were put in doubt in this pass already, or were
   * created just now and the host may not know them yet. */
  readonly #doubted = new Map<string, Promise<void>>()
  /** The albums, by the rows of their records, in which the host creates no albums. */
  readonly #closed = new Set<number>()

  constructor(context: AlbumPort, listings: AlbumListings) {
    this.#context = context
    this.#listings = listings
  }

  /** Notes that an album was created just now, so that a NOT_FOUND for this album is ignored. */
  ignore(remoteId: string): void {
    this.#doubted.set(remoteId, Promise.resolve())
  }

  /** Puts the record of an album in doubt, at most once a pass. Returns whether the album must be looked for again. */
  async doubt(album: AlbumRow): Promise<boolean> {
    const { remote_id } = album
    const { synced, contents } = this.#context
    const { albums, commit } = synced
    let doubt = this.#doubted.get(remote_id)
    if (!doubt) {
      this.#listings.forget(this.#above(album)?.remote_id ?? null)
      doubt = commit(tx => albumInDoubt(tx, remote_id))
      const row = albums.byRemoteId(remote_id)
      if (row) contents.forget(row.id)
      this.#doubted.set(remote_id, doubt)
    }
    await doubt
    return albums.byRemoteId(remote_id)?.confirmed !== 1
  }

  /** Puts the recorded albums in doubt that the host does not list in `parent`. Where an unknown album_id means the root, only
   * this shows that an album is gone. Returns the failure that kept the host from being asked, or null. */
  async doubtUnlisted(parent: Album, signal: AbortSignal): Promise<HostFailure | null> {
    const { synced, host, contents } = this.#context
    const recorded = synced.unusedAlbums.below(parent?.id ?? null).filter(({ confirmed }) => confirmed === 1)
    const ids = recorded.map(({ remote_id }) => remote_id)
    const unlisted = await unlistedIn(host, parent?.remote_id ?? null, ids, signal)
    if (!unlisted.ok) return unlisted.failure.remedy === 'plan' ? null : unlisted.failure
    for (const album of recorded) {
      const isListed = !unlisted.value.includes(album.remote_id)
      if (isListed) contents.listed.add(album.remote_id)
      else if (!this.#isYoung(album)) {
        const shown = await this.#showsItsOwn(album, signal)
        if (!shown.ok) return shown.failure
        if (!shown.value) await this.doubt(album)
      }
    }
    return null
  }

  /** Asks for the album's own listing, because the host may be late to list the album in its parent. */
  async #showsItsOwn(album: AlbumRow, signal: AbortSignal): Promise<Outcome<boolean>> {
    const { synced, host } = this.#context
    const shown = await host.list(album.remote_id, 1, signal)
    if (!shown.ok) return shown.failure.remedy === 'gone' ? { ok: true, value: false } : shown
    const root = await host.list(null, 1, signal)
    return root.ok ? { ok: true, value: showsItsOwn(synced, album, shown.value, root.value) } : root
  }

  /** After NOT_FOUND to step 1 of an upload into the album: puts the album in doubt when its parent does not list it. Returns the
   * failure that kept the host from being asked, or null. */
  async doubtAfterUpload(album: AlbumRow, signal: AbortSignal): Promise<HostFailure | null> {
    return this.#doubted.has(album.remote_id) ? null : this.#lookFor(album, signal)
  }

  /** Whether an album is gone, after NOT_FOUND for it or for the creation of an album in it. An album that is still there, or of
   * which no listing tells, is closed: the host creates no album in it. */
  async isGone(album: AlbumRow, failure: HostFailure, signal: AbortSignal): Promise<Outcome<boolean>> {
    if (failure.endpoint !== 'create_album')
      return (await this.doubt(album)) ? { ok: true, value: true } : { ok: false, failure }
    if (this.#isYoung(album)) return { ok: false, failure }
    const unasked = await this.#lookFor(album, signal)
    if (unasked) return { ok: false, failure: unasked }
    const isGone = this.#context.synced.albums.byRemoteId(album.remote_id)?.confirmed !== 1
    if (!isGone) this.#closed.add(album.id)
    return { ok: true, value: isGone }
  }

  /** Whether the host refused to create an album in this album. */
  isClosed({ id }: AlbumRow): boolean {
    return this.#closed.has(id)
  }

  async #lookFor(album: AlbumRow, signal: AbortSignal): Promise<HostFailure | null> {
    const failure = await this.doubtUnlisted(this.#above(album), signal)
    if (failure?.remedy !== 'gone') return failure
    // The album above is gone, and so is this one.
    await this.doubt(album)
    return null
  }

  #above({ parent }: AlbumRow): Album {
    return parent === null ? null : this.#context.synced.albums.byId(parent)!
  }

  /** Whether the host may not know the album yet, because it was created a moment ago. */
  #isYoung({ made_at }: AlbumRow): boolean {
    const { clock, credentialLifetimeMs } = this.#context
    return made_at !== null && clock.monotonic() - made_at < mayArriveFor(credentialLifetimeMs)
  }
}

export function inDoubt(message: Reason): HostFailure {
  return { remedy: 'find_out', endpoint: 'create_album', code: ALBUM_IN_DOUBT, message }
}

/** The code for an album of which it is not known whether it was created, or whose it is. Its pictures wait. Pictures of other
 * albums go on. */
export const ALBUM_IN_DOUBT = 'ALBUM_IN_DOUBT'
