import type { ListedAlbum, ListedImage } from '../../protocol/records.ts'
import type { Outcome } from '../../remote/host.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import { because } from '../../words/reasons.ts'
import { type Album, albumNames, keyOf, mirroredFolders } from '../album.ts'
import { lostAt } from '../clock.ts'
import type { AlbumPort } from '../context.ts'
import { changesOf, formsOf, plainName, sizeFits, walkEverything } from '../listing/index.ts'
import { inDoubt } from './album-doubts.ts'

/** Where an album is, or is to be: its parent and its name there. `recorded`: the album's record. */
export interface Place {
  parent: Album
  name: string
  recorded: AlbumRow | undefined
}

/** How many images of an album are enough to show whose album it is. */
const ENOUGH = 100

/** Chooses among listed albums that may be a folder's. A host may list the albums of several folders under one name. Then the
 * images in them tell which folder each belongs to. An album that may be the folder's is used before another one is created. */
export class AlbumChoice {
  readonly #context: AlbumPort
  /** The images in an album and in the albums below it, by the album's id. */
  readonly #images = new Map<string, ListedImage[]>()
  /** The place for which an album was chosen, by the album's id. */
  readonly #chosen = new Map<string, string>()

  constructor(context: AlbumPort) {
    this.#context = context
  }

  /** Chooses the album of this place. Undefined: none of `listed` is it. */
  async of(
    listed: readonly ListedAlbum[],
    place: Place,
    signal: AbortSignal,
  ): Promise<Outcome<ListedAlbum | undefined>> {
    const before = listed.filter(album => this.#isFree(album, place))
    const recorded = before.find(({ id }) => id === place.recorded?.remote_id)
    const rivals = before.flatMap(album => (album.name === place.name ? [] : this.#rivals(album, place)))
    const isShared = rivals.length > 0
    if (!recorded && isShared) {
      // Images that were sent before the state was lost may still arrive, and then tell more.
      if (lostAt(this.#context.synced) !== null) return { ok: true, value: undefined }
      // So may pictures that could not be seen.
      const unseen = [place.name, ...rivals]
        .flatMap(name => this.#foldersAt({ ...place, name }))
        .find(({ unknown }) => unknown !== null)
      const facts = unseen && { name: place.name, folder: unseen.at }
      if (facts) return { ok: false, failure: inDoubt(because('album_of_doubtful_folder', facts)) }
    }
    const isOpen = !recorded && (isShared || before.length > 1)
    for (const { id } of isOpen ? before : []) {
      const looked = await this.#lookInto(id, signal)
      if (!looked.ok) return looked
    }
    // While this was looked up, one of them may have been chosen for another folder.
    const free = before.filter(album => this.#isFree(album, place))
    const value = recorded ?? (isOpen ? this.#best(free, place) : free[0])
    if (value) this.#chosen.set(value.id, keyOf(place.parent, place.name))
    return { ok: true, value }
  }

  /** Whether nothing shows that the album is that of another folder. */
  #isFree({ id, name: listed }: ListedAlbum, { parent, name, recorded }: Place): boolean {
    const { albums, images } = this.#context.synced
    const place = keyOf(parent, name)
    if ((this.#chosen.get(id) ?? place) !== place) return false
    const row = albums.byRemoteId(id)
    if (!row || listed === name || row.id === recorded?.id) return true
    // A walk records albums that nothing uses under the names that the host lists.
    return row.ours === 0 && row.name === listed && images.countInAlbum(row.id) === 0
  }

  /** The names of the other folders whose album this may be. */
  #rivals({ id, name: listed }: ListedAlbum, { parent, name }: Place): string[] {
    const { synced } = this.#context
    const above = albumNames(synced, parent?.id ?? null)
    const beside = mirroredFolders(synced).flatMap(({ path }) =>
      path.length > above.length && above.every((at, n) => at === path[n]) ? [path[above.length]!] : [],
    )
    return [...new Set(beside)].filter(other => {
      const { remote_id = id } = synced.albums.named(parent?.id ?? null, other) ?? {}
      return other !== name && remote_id === id && (other === listed || changesOf(other)(listed))
    })
  }

  /** The one that shows most of this folder, has most images, has most albums in it, is the oldest. One that shows more of
   * another folder is that folder's, and so is one that shows of neither where only that folder's album was asked for. */
  #best(free: readonly ListedAlbum[], place: Place): ListedAlbum | undefined {
    const { albums, journal } = this.#context.synced
    const parent = place.parent?.id ?? null
    const wasAsked = (name: string) => journal.openCreation(parent, name) !== undefined
    const weighed = free.map(album => {
      const shows = (name: string) => this.#shows(album, { ...place, name })
      const ours = shows(place.name)
      const isOurs = this.#rivals(album, place).every(other => {
        const isRecorded = albums.named(parent, other) !== undefined
        const theirs = shows(other)
        const isTheirs = other === album.name || (wasAsked(other) && !wasAsked(place.name))
        return !isRecorded && (ours > theirs || (ours === theirs && !isTheirs))
      })
      return { album, ours, isOurs }
    })
    const own = weighed.filter(({ isOurs }) => isOurs)
    const open = own.length > 0 ? own : weighed.filter(({ album }) => album.name === place.name)
    const [best] = open.toSorted(
      ({ album: a, ours }, { album: b, ours: theirs }) =>
        theirs - ours || b.image_count - a.image_count || b.sub_count - a.sub_count || dateOf(a) - dateOf(b),
    )
    const isOneName = new Set(open.map(({ album }) => plainName(album.name))).size === 1
    return best && (isOneName || best.ours > 0) ? best.album : undefined
  }

  /** How much an album shows that it is this folder's: the names of the folder's pictures among its images, and their sizes. An
   * image shows one picture at most. */
  #shows({ id }: ListedAlbum, place: Place): number {
    const left = (this.#images.get(id) ?? []).map(({ name, size }) => ({ size, forms: formsOf(name ?? '') }))
    const { files: recorded } = this.#context.synced
    let files = this.#foldersAt(place)
      .flatMap(({ id }) => recorded.ofFolder(id))
      .map(({ name, size }) => ({ size, isNamed: changesOf(name) }))
    let shown = 0
    for (const isSized of [true, false])
      files = files.filter(file => {
        const fits = (size: string | undefined) => size !== undefined && sizeFits(size, file.size)
        const at = left.findIndex(({ forms, size }) => file.isNamed(forms) && (!isSized || fits(size)))
        if (at < 0) return true
        left.splice(at, 1)
        shown += isSized ? 2 : 1
        return false
      })
    return shown
  }

  /** The recorded folders whose pictures go into the album of a place, or into albums in it. */
  #foldersAt({ parent, name }: Place) {
    const { synced } = this.#context
    const path = [...albumNames(synced, parent?.id ?? null), name]
    return mirroredFolders(synced).filter(folder => path.every((at, n) => at === folder.path[n]))
  }

  async #lookInto(album: string, signal: AbortSignal): Promise<Outcome<unknown>> {
    if (this.#images.has(album)) return { ok: true, value: null }
    const walk = await walkEverything(this.#context.host, signal, album)
    if (!walk.ok && walk.failure.remedy !== 'gone') return walk
    this.#images.set(album, walk.ok ? walk.value.images.slice(0, ENOUGH) : [])
    return { ok: true, value: null }
  }
}

/** The time of creation. `Date.parse` does not read an ISO 8601 offset without minutes ("+08"). */
function dateOf({ created_at }: ListedAlbum): number {
  return Date.parse(created_at.replace(/[+-]\d\d$/, '$&:00'))
}
