import { albumClosed, albumInDoubt } from '../../records/albums.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { mayArriveFor } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import type { AlbumListings } from '../listing/index.ts'

/** For how long no album is asked for in an album in which the host has created none. */
const CLOSED_FOR_MS = 86_400_000

type Context = Pick<EngineContext, 'synced' | 'clock' | 'contents' | 'credentialLifetimeMs'>

/**
 * Finds out, in one pass, which albums are gone after the host answered NOT_FOUND. Only a listing proves that an album is
 * gone. A host may answer NOT_FOUND also because an album is too deep for others, or because it is late to know a new album.
 * Any other refusal may concern the picture alone. Where there are no listings, such a refusal puts no album in doubt, because
 * a second album of the same name would take the folder's further pictures.
 */
export class AlbumDoubts {
  readonly #context: Context
  readonly #listings: AlbumListings
  /**
   * By the host's ids, the albums for which a NOT_FOUND is ignored, because their record was put in doubt already, or because
   * they were created just now and the host may be late to know them.
   */
  readonly #doubted = new Map<string, Promise<void>>()

  constructor(context: Context, listings: AlbumListings) {
    this.#context = context
    this.#listings = listings
  }

  /** An album was created just now. */
  ignore(remoteId: string): void {
    this.#doubted.set(remoteId, Promise.resolve())
  }

  /**
   * Puts the record of an album in doubt, once a pass, because a host may list an album and answer NOT_FOUND for it. Answers
   * whether the album must be looked for again.
   */
  async doubt({ remote_id, parent }: AlbumRow, isUnproved = false): Promise<boolean> {
    const { synced, contents } = this.#context
    const { albums, commit } = synced
    let doubt = this.#doubted.get(remote_id)
    if (!doubt) {
      this.#listings.forget(parent === null ? null : albums.byId(parent)!.remote_id)
      doubt = commit(tx => albumInDoubt(tx, remote_id, isUnproved))
      const row = albums.byRemoteId(remote_id)
      if (row) contents.forget(row.id)
      this.#doubted.set(remote_id, doubt)
    }
    await doubt
    return albums.byRemoteId(remote_id)?.confirmed !== 1
  }

  /**
   * Puts an album in doubt for which step 1 of an upload was answered NOT_FOUND. When the plan has no listings, nothing proves
   * that the album is gone, so it is created again once at most. Answers the failure that kept the album from being looked
   * for.
   */
  async doubtAfterUpload(album: AlbumRow, signal: AbortSignal): Promise<HostFailure | null> {
    const { albums } = this.#context.synced
    const listed = this.#doubted.has(album.remote_id) || (await this.#isListed(album, signal))
    if (listed !== true && !listed.ok) return listed.failure
    const isUnproved = listed !== true && listed.value === null
    if (!isUnproved || albums.byRemoteId(album.remote_id)?.remade === 0) await this.doubt(album, isUnproved)
    return null
  }

  /**
   * Whether an album is gone, after the host answered NOT_FOUND for it, or for the creation of an album in it. An album that
   * is there is recorded as closed: its host creates no album in it. So is an album when the plan has no listings. The next
   * upload into it then shows whether it is gone.
   */
  async isGone(album: AlbumRow, failure: HostFailure, signal: AbortSignal): Promise<Outcome<boolean>> {
    const { synced, clock } = this.#context
    if (failure.endpoint !== 'create_album')
      return (await this.doubt(album)) ? { ok: true, value: true } : { ok: false, failure }
    if (this.#isYoung(album)) return { ok: false, failure }
    const listed = await this.#isListed(album, signal)
    if (!listed.ok) return listed
    if (listed.value === false && (await this.doubt(album))) return { ok: true, value: true }
    await synced.commit(tx => albumClosed(tx, album.id, clock.wall()))
    return { ok: true, value: false }
  }

  /** Whether the host has refused an album in this album a short time ago. A clock that was set delays no next try. */
  isClosed({ id }: AlbumRow): boolean {
    const { synced, clock } = this.#context
    const at = synced.albums.byId(id)?.closed_at ?? null
    return at !== null && Math.abs(clock.wall() - at) < CLOSED_FOR_MS
  }

  /** Whether the host still lists an album. Null: the plan has no listings. */
  async #isListed(
    { parent, name, remote_id }: AlbumRow,
    signal: AbortSignal,
  ): Promise<Outcome<boolean | null>> {
    const above = parent === null ? null : this.#context.synced.albums.byId(parent)!.remote_id
    this.#listings.forget(above)
    const listed = await this.#listings.named(above, name, signal)
    // Somebody may have renamed the album, so its name does not count.
    if (listed.ok) return { ok: true, value: await this.#listings.showed(above, remote_id) }
    if (listed.failure.remedy === 'gone') return { ok: true, value: false }
    return listed.failure.remedy === 'plan' ? { ok: true, value: null } : listed
  }

  /** Whether a host may be late to know the album, because it was created a moment ago. */
  #isYoung({ made_at }: AlbumRow): boolean {
    const { clock, credentialLifetimeMs } = this.#context
    return made_at !== null && clock.monotonic() - made_at < mayArriveFor(credentialLifetimeMs)
  }
}
