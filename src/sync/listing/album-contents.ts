import type { Millis } from '../../protocol/clock.ts'
import type { ListedImage } from '../../protocol/records.ts'
import { albumListed } from '../../records/albums.ts'
import type { HostFailure, ImageHost, ListPage, Outcome } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because } from '../../words/reasons.ts'
import { type Album, albumName, mirroredFolders } from '../album.ts'
import type { AlbumPort } from '../context.ts'
import { changesOf, formsOf, type ListedForms } from './changed-name.ts'
import { isPromised } from './evidence.ts'
import { listingChanges, plainName, type Walk, walkEverything, walkWhole } from './walk.ts'

/** A listed image that no record names. `album`: the row of its album; null is the root. `seen`: when the walk began. */
export type UnrecordedImage = ListedImage & { album: number | null; seen: Millis }

/** The unrecorded images of albums. With new or older records a picture may be on the host unrecorded, and would be sent twice.
 * So an album's count is compared with the records before the first upload. Where they differ, the album is walked. */
export class AlbumContents {
  /** The look at each album, done or under way, by the album's row. 0 is the root. */
  readonly #looks = new Map<number, Promise<Outcome<void>>>()
  /** The unrecorded images of the albums that were walked, by their names. */
  readonly #unrecorded = new Map<number, Map<string, UnrecordedImage[]>>()
  /** The forms of listed names, kept because each is compared with many. */
  readonly #forms = new Map<string, ListedForms>()
  /** The albums, by the host's ids, that their parent has listed, or that albumd created, since the process started. */
  readonly listed = new Set<string>()
  #isNewEmitted = false

  /** Looks at an album once. Returns what failed. */
  lookAt(context: AlbumPort, album: Album, signal: AbortSignal): Promise<Outcome<void>> {
    const key = album?.id ?? 0
    const look = this.#looks.get(key) ?? this.#look(context, album, signal)
    this.#looks.set(key, look)
    return look.then(looked => {
      if (!looked.ok && this.#looks.get(key) === look) this.#looks.delete(key)
      return looked
    })
  }

  /** The unrecorded images of this name in an album. Empty for an album that was not walked. */
  unrecorded(album: Album, name: string): readonly UnrecordedImage[] {
    return this.#unrecorded.get(album?.id ?? 0)?.get(plainName(name)) ?? []
  }

  /** The unrecorded images of an album that are listed without a name, or under one that the host may have made of this one. */
  renamed(album: Album, name: string): UnrecordedImage[] {
    const isChanged = changesOf(name)
    const formsOfName = (listed: string) => {
      if (!this.#forms.has(listed)) this.#forms.set(listed, formsOf(listed))
      return this.#forms.get(listed)!
    }
    return [...(this.#unrecorded.get(album?.id ?? 0) ?? [])].flatMap(([listed, images]) =>
      listed !== plainName(name) && (listed === '' || isChanged(formsOfName(listed))) ? images : [],
    )
  }

  /** All unrecorded images of an album. Empty for an album that was not walked. */
  all(album: Album): UnrecordedImage[] {
    return [...(this.#unrecorded.get(album?.id ?? 0)?.values() ?? [])].flat()
  }

  /** Gives an unrecorded image to a file. Returns false when another file was given the image before. */
  claim(album: Album, image: UnrecordedImage): boolean {
    const named = this.#unrecorded.get(album?.id ?? 0)
    const name = keyOf(image)
    const images = named?.get(name) ?? []
    if (!images.includes(image)) return false
    const left = images.filter(other => other !== image)
    if (left.length > 0) named!.set(name, left)
    else named!.delete(name)
    return true
  }

  /** Notes that an album was created just now. It is empty, so it need not be looked at. */
  expectEmpty(album: AlbumRow): void {
    this.#looks.set(album.id, Promise.resolve({ ok: true, value: undefined }))
    this.#unrecorded.delete(album.id)
  }

  /** Makes the next upload look at the album again. `album`: its row; null is the root. */
  forget(album: number | null): void {
    this.#looks.delete(album ?? 0)
    this.#unrecorded.delete(album ?? 0)
  }

  forgetAll(): void {
    this.#looks.clear()
    this.#unrecorded.clear()
    this.listed.clear()
    this.#forms.clear()
  }

  /** Tells once that no image was ever recorded. When an older copy was put back, the start has told. */
  #emitNewState({ synced, emit }: AlbumPort, album: Album, images: number): void {
    if (this.#isNewEmitted || synced.images.latest() !== undefined || synced.meta.get('restored') !== null)
      return
    this.#isNewEmitted = true
    const found = { album: albumName(synced, album?.id ?? null), images }
    emit({ event: 'new_state', ...found, message: because('new_state', found) })
  }

  async #look(context: AlbumPort, album: Album, signal: AbortSignal): Promise<Outcome<void>> {
    const { synced, host } = context
    // An upload that names no album lands in the default album (§4.1). While that is not known, it may be any album.
    const everywhere = album === null && synced.meta.get('default_album') !== ''
    // An album with unrecorded images is walked: one may be a mirror's picture, and only a walk shows their ids.
    if (!everywhere && synced.contents.unrecorded(album?.id ?? null) === 0) {
      const alike = await looksAsRecorded(synced, host, album, signal)
      if (!alike.ok) return withoutList(synced, alike.failure)
      if (alike.value) return { ok: true, value: undefined }
    }
    const seen = context.clock.wall()
    const walk = everywhere
      ? await walkEverything(host, signal)
      : await walkWhole(host, album?.remote_id ?? null, signal)
    if (!walk.ok) return withoutList(synced, walk.failure)
    if (!walk.value.settled) return { ok: false, failure: listingChanges }
    const shown = everywhere ? withoutMirrored(synced, walk.value) : walk.value
    await this.#remember(context, album, shown, seen)
    return { ok: true, value: undefined }
  }

  async #remember(context: AlbumPort, album: Album, walk: Walk, seen: Millis): Promise<void> {
    const { synced } = context
    const listed = unrecordedIn(synced, walk.images)
    const here = listed.filter(image => image.album === (album?.remote_id ?? null))
    const rows = await synced.commit(tx => {
      tx.contents.put(album?.id ?? null, here.length)
      return album === null
        ? recordAlbums(tx, { ...walk, images: listed })
        : new Map<string | null, number | null>([[album.remote_id, album.id]])
    })
    const images = listed.map(image => ({ ...image, album: rows.get(image.album) ?? null, seen }))
    this.#unrecorded.set(album?.id ?? 0, Map.groupBy(images, keyOf))
    if (images.length > 0) this.#emitNewState(context, album, images.length)
  }
}

/** Whether the count fits, and first and last page show no unrecorded image. The count alone is not enough: after an older copy
 * was put back, as many other images may be there. Hosts list by time, so those are on the first or the last page. */
async function looksAsRecorded(
  synced: Synced,
  host: ImageHost,
  album: Album,
  signal: AbortSignal,
): Promise<Outcome<boolean>> {
  const list = (page: number) => host.list(album?.remote_id ?? null, page, signal)
  const first = await list(1)
  if (!first.ok) return first
  const { total_images, total_pages } = first.value.pagination
  const isKnown = ({ images }: ListPage) => unrecordedIn(synced, images).length === 0
  if (total_images !== synced.images.countInAlbum(album?.id ?? null) || !isKnown(first.value))
    return { ok: true, value: false }
  if (total_pages <= 1) return { ok: true, value: true }
  const last = await list(total_pages)
  return last.ok ? { ok: true, value: isKnown(last.value) } : last
}

/** Removes the images of albums that mirror a folder, because such an image can only be that folder's picture. */
function withoutMirrored(synced: Synced, walk: Walk): Walk {
  const mirrored = mirroredFolders(synced).map(({ path }) =>
    path.map(name => ({ name, isChanged: changesOf(name) })),
  )
  const byId = new Map(walk.albums.map(album => [album.id, album]))
  const pathOf = (id: string | null): string[] => {
    const album = id === null ? undefined : byId.get(id)
    return album ? [...pathOf(album.parent), album.name] : []
  }
  const isMirrored = (path: readonly string[]) =>
    mirrored.some(
      names =>
        names.length === path.length &&
        names.every(({ name, isChanged }, at) => name === path[at] || isChanged(path[at]!)),
    )
  const others = new Set([null, ...byId.keys()].filter(id => id === null || !isMirrored(pathOf(id))))
  return { ...walk, images: walk.images.filter(({ album }) => others.has(album)) }
}

/** The name by which images are grouped. '' for images that are listed without a name. */
function keyOf({ name }: ListedImage): string {
  return name === undefined ? '' : plainName(name)
}

/** A plan without listings lets uploads go without a look, unless the records are known to be old. */
function withoutList(synced: Synced, failure: HostFailure): Outcome<void> {
  if (failure.remedy !== 'plan' || synced.meta.get('restored') !== null) return { ok: false, failure }
  return { ok: true, value: undefined }
}

/** The listed images without a record, except those that albumd deleted and the host may still list, and promised ones. */
export function unrecordedIn<Image extends ListedImage>(
  { images, deleted }: Synced,
  listed: readonly Image[],
): Image[] {
  return listed.filter(
    image => !images.byRemoteId(image.id) && deleted.at(image.id) === undefined && !isPromised(image),
  )
}

/** Whether the host lists images under the names that they were uploaded with. The recorded images show it. */
export function namesAreKept({ images }: Synced, listed: readonly ListedImage[]): boolean {
  return listed.every(({ id, name }) => {
    const ours = name === undefined ? undefined : images.byRemoteId(id)
    return ours?.proof !== 'uploaded' || plainName(ours.name) === plainName(name!)
  })
}

/** Records the albums that hold the walk's images, and those above them. Returns their rows by the host's ids. Null: the root. */
export function recordAlbums(tx: Tx, walk: Walk): Map<string | null, number | null> {
  const rows = new Map<string | null, number | null>([[null, null]])
  const byId = new Map(walk.albums.map(album => [album.id, album]))

  function rowOf(id: string | null): number | null {
    const known = rows.get(id)
    if (known !== undefined) return known
    const row = tx.albums.byRemoteId(id!)
    const { parent, name } = byId.get(id!)!
    const added = (row ?? albumListed(tx, rowOf(parent), name, id!)).id
    rows.set(id, added)
    return added
  }

  for (const { album } of walk.images) rowOf(album)
  return rows
}
