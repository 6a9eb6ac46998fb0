import { isErrorCode } from '../../protocol/errors.ts'
import { type AlbumOrigin, albumFound } from '../../records/albums.ts'
import { foundInAlbum } from '../../records/images.ts'
import type { HostFailure, Outcome, Remedy } from '../../remote/host.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because } from '../../words/reasons.ts'
import { type Album, albumName, albumNames, keyOf } from '../album.ts'
import type { AlbumBegun } from '../claims.ts'
import { lossEndsAt, lostAt, mayArriveFor } from '../clock.ts'
import type { AlbumPort } from '../context.ts'
import { AlbumListings, recordAlbums, walkEverything } from '../listing/index.ts'
import { AlbumChoice, type Place } from './album-choice.ts'
import { AlbumDoubts, inDoubt } from './album-doubts.ts'

/** The albums that pictures go into. An album is created when its first image needs it and the host lists none of its name. A
 * tree lives for one pass, and forgets then what it has learned of the host. */
export class AlbumTree {
  readonly #context: AlbumPort
  readonly #listings: AlbumListings
  readonly #doubts: AlbumDoubts
  readonly #choice: AlbumChoice
  /** The searches and creations under way, by parent and name. Two uploads that need one album wait for the same search. */
  readonly #underWay = new Map<string, Promise<Outcome<Album>>>()
  /** By parent and name: the failure after which this album is not asked for again in this pass. */
  readonly #refusals = new Map<string, HostFailure>()
  /** The parents, by the host's ids, that were walked again after the host refused to create an album in them. Null: the root. */
  readonly #walkedAgain = new Set<string | null>()
  /** The checks whether the host lists the albums that are recorded in a parent, by the parent's row (0 is the root). */
  readonly #looksAbove = new Map<number, Promise<HostFailure | null>>()

  constructor(context: AlbumPort) {
    this.#context = context
    this.#listings = new AlbumListings(context.host)
    this.#doubts = new AlbumDoubts(context, this.#listings)
    this.#choice = new AlbumChoice(context)
  }

  /** The album at `path`. Undefined: this album, or an album above it, does not exist. Creates nothing. */
  async lookUp(path: readonly string[], signal: AbortSignal): Promise<Outcome<Album | undefined>> {
    let parent: Album = null
    for (const name of path) {
      const failure = await this.#lookAbove(parent, name, signal)
      if (failure) return { ok: false, failure }
      const known: AlbumRow | undefined = this.#known(parent, name)
      const next: Outcome<AlbumRow | undefined> = known?.confirmed
        ? { ok: true, value: known }
        : await this.#search({ parent, name, recorded: known }, signal)
      if (!next.ok || next.value === undefined) return next
      parent = next.value
    }
    return { ok: true, value: parent }
  }

  /** The album at `path`, created when it is missing, or the deepest one above it that plan and depth limit allow. */
  async find(path: readonly string[], signal: AbortSignal): Promise<Outcome<Album>> {
    let parent: Album = null
    for (const name of path) {
      if (parent && this.#doubts.isClosed(parent) && !this.#known(parent, name))
        return { ok: true, value: parent }
      const next = await this.#childOf(parent, name, signal)
      if (next.ok) {
        parent = next.value
        continue
      }
      if (cannotBeMade(next.failure, parent)) return { ok: true, value: parent }
      if (parent === null || next.failure.remedy !== 'gone') return next
      const gone = await this.#doubts.isGone(parent, next.failure, signal)
      if (!gone.ok) return gone
      return gone.value ? this.find(path, signal) : { ok: true, value: parent }
    }
    return { ok: true, value: parent }
  }

  /** Like `find`, after NOT_FOUND for `lost`, for which it looks first. Without listings the record stays as it is. */
  async lookAgain(path: readonly string[], signal: AbortSignal, lost: AlbumRow): Promise<Outcome<Album>> {
    const failure = await this.#doubts.doubtAfterUpload(lost, signal)
    if (failure) return { ok: false, failure }
    return this.find(path, signal)
  }

  /** Puts the record of an album in doubt. Returns whether the album must be looked for again. */
  doubt(album: AlbumRow): Promise<boolean> {
    return this.#doubts.doubt(album)
  }

  async #childOf(parent: Album, name: string, signal: AbortSignal): Promise<Outcome<Album>> {
    const failure = await this.#lookAbove(parent, name, signal)
    if (failure) return { ok: false, failure }
    const recorded = this.#known(parent, name)
    if (recorded?.confirmed) return { ok: true, value: recorded }
    const key = keyOf(parent, name)
    const running = this.#underWay.get(key)
    if (running) return running
    const search = this.#findOrMake({ parent, name, recorded }, signal).finally(() =>
      this.#underWay.delete(key),
    )
    this.#underWay.set(key, search)
    return search
  }

  /** Returns the album at this place, and creates it when the host lists none. */
  async #findOrMake(place: Place, signal: AbortSignal): Promise<Outcome<Album>> {
    const { recorded } = place
    const listed = await this.#search(place, signal)
    if (!listed.ok && listed.failure.remedy !== 'plan') return listed
    // A plan without listings proves nothing: a recorded album is used. An album without a record is created only when the
    // records are no older copy (`restored`).
    if (!listed.ok && recorded) return { ok: true, value: recorded }
    if (!listed.ok && this.#context.synced.meta.get('restored') !== null) return listed
    if (listed.ok && listed.value) return { ok: true, value: listed.value }
    const late = await this.#whyNotYet(place, listed.ok, signal)
    if (late) return { ok: false, failure: late }
    return this.#makeOnce(place, signal)
  }

  /** Creates an album, unless the host lists it by now, or another machine of the account creates it. */
  async #makeOnce(place: Place, signal: AbortSignal): Promise<Outcome<Album>> {
    const { claims, synced } = this.#context
    const { parent, name } = place
    const path = [...albumNames(synced, parent?.id ?? null), name].join('/')
    const begun = await claims.beginAlbum(path, signal)
    if (begun.kind === 'wait') return { ok: false, failure: inDoubt(begun.why) }
    if (begun.kind === 'made') return this.#record(place, begun.id, 'listed')
    // Another machine may have created the album since the listing was read.
    if (!claims.isOwn(path)) this.#listings.forget(parent?.remote_id ?? null)
    // No earlier request for this album can arrive any more, so this listing is final.
    const again = await this.#search(place, signal)
    const isThere = again.ok ? again.value !== undefined : again.failure.remedy !== 'plan'
    if (!isThere) return this.#make(place, begun, signal)
    await begun.ended(again.ok ? again.value!.remote_id : null)
    return again as Outcome<Album>
  }

  /** Finds the album in the host's listing, and records it. Returns undefined when the host lists no such album. */
  async #search(place: Place, signal: AbortSignal): Promise<Outcome<AlbumRow | undefined>> {
    const { parent, name } = place
    const listed = await this.#listings.named(parent?.remote_id ?? null, name, signal)
    if (!listed.ok) return listed
    const found = await this.#choice.of(listed.value, place, signal)
    if (!found.ok) return found
    return found.value ? this.#record(place, found.value.id, 'listed') : { ok: true, value: undefined }
  }

  /** Why an album that is not listed is not created yet, or null. When it was asked for a short time ago, the host may list it
   * late, and asking again would create a second album of this name. */
  async #whyNotYet(
    { parent, name }: Place,
    canList: boolean,
    signal: AbortSignal,
  ): Promise<HostFailure | null> {
    const { synced, clock, credentialLifetimeMs } = this.#context
    const { albums, journal } = synced
    const asked = journal.openCreation(parent?.id ?? null, name)
    const made = albums.named(parent?.id ?? null, name)?.made_at
    const lost = lostAt(synced)
    const times = [asked?.sent_at, made, lost].filter(at => at !== undefined && at !== null)
    const since = Math.max(...times)
    if (since === Number.NEGATIVE_INFINITY) return null
    if (clock.monotonic() - since <= mayArriveFor(credentialLifetimeMs)) {
      const until = since === lost ? lossEndsAt(synced, credentialLifetimeMs, clock) : null
      return inDoubt(
        until === null ? because('album_asked_for', { name }) : because('sent_before_loss', { until }),
      )
    }
    this.#listings.forget(parent?.remote_id ?? null)
    return signal.aborted || (asked && !canList) ? inDoubt(because('album_asked_for', { name })) : null
  }

  /** Creates an album. `begun`: the permission that the other machines of the account gave. */
  async #make(
    place: Place,
    begun: Extract<AlbumBegun, { kind: 'create' }>,
    signal: AbortSignal,
  ): Promise<Outcome<Album>> {
    const { parent, name } = place
    const refusal = this.#refusals.get(keyOf(parent, name))
    if (refusal) {
      await begun.ended(null)
      return { ok: false, failure: refusal }
    }
    const { synced, host, clock, contents, emit } = this.#context
    const { journal, commit } = synced
    const intent = await commit(tx => {
      const before = journal.openCreation(parent?.id ?? null, name)
      if (before) tx.journal.close(before.id)
      const time = { since: clock.wall(), sent_at: Math.round(clock.monotonic()) }
      return tx.journal.openAlbumCreation({ parent: parent?.id ?? null, name, ...time })
    })
    const created = await host.createAlbum(
      { name, parent_album: parent?.remote_id ?? null },
      signal,
      begun.mayGo,
    )
    if (!created.ok) {
      // The host may have created the album. Then the intent stays open, so that no second one is created.
      const mayArrive = created.failure.remedy === 'find_out'
      if (!mayArrive) await begun.ended(null)
      if (!mayArrive) await commit(tx => tx.journal.close(intent))
      const there = await this.#madeMeanwhile(place, created.failure, signal)
      if (there) return { ok: true, value: there }
      if (LASTING.has(created.failure.remedy)) this.#refusals.set(keyOf(parent, name), created.failure)
      if (mayArrive) this.#listings.forget(parent?.remote_id ?? null)
      return created
    }
    const { id } = created.value
    await begun.ended(id)
    // A host that changes names may answer with an older album. That may hold images, so it counts as listed.
    const wasThere =
      synced.albums.byRemoteId(id) || (await this.#listings.showed(parent?.remote_id ?? null, id))
    if (wasThere) return this.#record(place, id, 'listed')
    this.#listings.expectEmpty(id)
    this.#doubts.ignore(id)
    const album = await this.#record(place, id, 'made')
    contents.expectEmpty(album.value)
    emit({ event: 'album_created', album: albumName(synced, album.value.id) })
    return album
  }

  /** The host has refused to create the album, perhaps because another program created it after `parent` was walked. §4 names no
   * code for that, so `parent` is walked again, once a pass. Returns the album of this name, if it is there by now. */
  async #madeMeanwhile(
    { parent, name }: Place,
    { remedy }: HostFailure,
    signal: AbortSignal,
  ): Promise<AlbumRow | undefined> {
    const id = parent?.remote_id ?? null
    if (!MAY_BE_THERE.has(remedy) || this.#walkedAgain.has(id)) return undefined
    this.#walkedAgain.add(id)
    this.#listings.forget(id)
    const found = await this.#search({ parent, name, recorded: this.#known(parent, name) }, signal)
    return found.ok ? found.value : undefined
  }

  async #record({ parent, name }: Place, remoteId: string, how: AlbumOrigin) {
    const { synced, clock, contents } = this.#context
    const album = { parent: parent?.id ?? null, name, remoteId }
    const value = await synced.commit(tx => albumFound(tx, album, how, clock.monotonic()))
    contents.listed.add(remoteId)
    return { ok: true as const, value }
  }

  /** A recorded album is relied on once the album above has listed it. Returns what kept the host from being asked, or null. */
  async #lookAbove(parent: Album, name: string, signal: AbortSignal): Promise<HostFailure | null> {
    const recorded = this.#known(parent, name)
    if (!recorded?.confirmed || this.#context.contents.listed.has(recorded.remote_id)) return null
    const key = parent?.id ?? 0
    const look = this.#looksAbove.get(key) ?? this.#doubts.doubtUnlisted(parent, signal)
    this.#looksAbove.set(key, look)
    return look
  }

  #known(parent: Album, name: string): AlbumRow | undefined {
    return this.#context.synced.albums.named(parent?.id ?? null, name)
  }
}

/** Whether the host allows no album in `parent`, because the plan has no albums, the depth limit is reached, or the name is
 * taken. §4 names no code for the last two. In the root, NOT_FOUND can't mean that the parent is gone. FORBIDDEN in the root has
 * another reason, which a person must be told. So has a 403 with another code, which does not concern one album. */
function cannotBeMade({ endpoint, remedy, code }: HostFailure, parent: Album): boolean {
  if (endpoint !== 'create_album') return false
  const here = parent === null ? remedy === 'gone' : remedy === 'not_permitted' && isErrorCode(code)
  return remedy === 'plan' || remedy === 'change_request' || here
}

/** Remedies of failures after which the album is not asked for again in the same pass. */
const LASTING: ReadonlySet<Remedy> = new Set(['plan', 'change_request', 'not_permitted', 'gone', 'find_out'])

/** Remedies of failures that may mean that there is an album of this name already. */
const MAY_BE_THERE: ReadonlySet<Remedy> = new Set(['change_request', 'not_permitted', 'gone'])

/** How long after a look the next one follows: each walks everything, and a host may list late. */
const NEXT_LOOK_MS = 60_000

/** A picture that is uploaded without an album lands in the account's default album (§4.1), which no answer names. So the first
 * such upload goes alone. Then all albums are walked to see where its image is. */
export class DefaultAlbum {
  #canNotKnow = false
  /** The ids of images that were uploaded without an album and are not listed yet. */
  readonly #unseen = new Set<string>()
  #nextLook = Number.NEGATIVE_INFINITY

  /** The album in which uploads without an album land. Null: the root. Undefined: not known yet. */
  known({ synced }: AlbumPort): Album | undefined {
    const id = synced.meta.get('default_album')
    if (id === null) return this.#canNotKnow ? null : undefined
    return id === '' ? null : (synced.albums.byRemoteId(id) ?? undefined)
  }

  /** Looks for the image of an upload without an album, and for earlier ones that were not listed yet. */
  async learn({ synced, host, clock, emit }: AlbumPort, imageId: string, signal: AbortSignal): Promise<void> {
    this.#unseen.add(imageId)
    if (clock.monotonic() < this.#nextLook) return
    const walk = await walkEverything(host, signal)
    if (!walk.ok) {
      this.#canNotKnow ||= walk.failure.remedy === 'plan'
      return
    }
    const images = walk.value.images.filter(({ id }) => this.#unseen.has(id))
    const image = images.find(({ id }) => id === imageId) ?? images.at(-1)
    if (!image) {
      this.#nextLook = clock.monotonic() + NEXT_LOOK_MS
      return
    }
    await synced.commit(tx => {
      tx.meta.set('default_album', image.album ?? '')
      const places = recordAlbums(tx, { ...walk.value, images })
      for (const { id, album } of images) {
        const row = tx.images.byRemoteId(id)
        if (row) foundInAlbum(tx, row, places.get(album) ?? null)
      }
    })
    const album = image.album === null ? null : walk.value.albums.find(({ id }) => id === image.album)
    if (album) emit({ event: 'default_album_found', album: album.name })
  }
}
