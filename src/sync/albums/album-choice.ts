import { imageNameOf } from '../../protocol/formats.ts'
import type { ListedAlbum, ListedImage } from '../../protocol/records.ts'
import type { Outcome } from '../../remote/host.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { because } from '../../words/reasons.ts'
import { type Album, albumNames, keyOf, mirroredFolders } from '../album.ts'
import { lostAt } from '../clock.ts'
import type { AlbumPort } from '../context.ts'
import { isSame, lookAtFile } from '../delivered/index.ts'
import {
  changesOf,
  formsOf,
  type ListedForms,
  plainName,
  sizeFits,
  type Walk,
  walkEverything,
} from '../listing/index.ts'
import { inDoubt } from './album-doubts.ts'

/** Where an album is, or is to be: its parent and its name there. `recorded`: the album's record. */
export interface Place {
  parent: Album
  name: string
  recorded: AlbumRow | undefined
}

/** How many images of an album are enough to show whose album it is. */
const ENOUGH = 100
/** How many images are compared with pictures, at most, to show how much of a folder is in an album. */
const LOOKS_MOST = 8
/** One picture that is proved shows more than all names and sizes. */
const PROVED = 2 * ENOUGH + 1

/** An image in an album. `forms`: of the names of the albums in which it lies there, and of its own. */
type Inside = ListedImage & { forms: readonly ListedForms[] }

/** An image that may be a file's. `isSized`: it has the file's size too. */
interface Fitting {
  file: FileRow
  image: Inside
  isSized: boolean
}

/** Chooses among listed albums that may be a folder's. A host may list the albums of several folders under one name, so a changed
 * name alone shows nothing. All folders are weighed together with all albums that may be theirs. The pair that shows most goes
 * first: by pictures that deliveries prove, then by names and sizes, then by the name or a creation that was asked for. So it is
 * the same whichever folder asks. What shows nothing of any folder is used before another album is created. */
export class AlbumChoice {
  readonly #context: AlbumPort
  /** The images in an album and in the albums below it, by the album's id. */
  readonly #images = new Map<string, Inside[]>()
  /** How much an album shows of a folder, by the album's id and the folder's name. */
  readonly #shown = new Map<string, number>()
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
        .flatMap(name => this.#foldersAt(place.parent, name))
        .find(({ unknown }) => unknown !== null)
      const facts = unseen && { name: place.name, folder: unseen.at }
      if (facts) return { ok: false, failure: inDoubt(because('album_of_doubtful_folder', facts)) }
    }
    const isOpen = !recorded && (isShared || before.length > 1)
    for (const album of isOpen ? before : []) {
      const looked = await this.#lookInto(album, place, signal)
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
    const chosen = new Set(this.#chosen.values())
    return [...new Set(beside)].filter(other => {
      if (chosen.has(keyOf(parent, other))) return false
      const { remote_id = id } = synced.albums.named(parent?.id ?? null, other) ?? {}
      return other !== name && remote_id === id && (other === listed || changesOf(other)(listed))
    })
  }

  /** The album that is left for this folder when each folder has the one that shows most of it. Of those that show the same: the
   * one with most images, with most albums in it, the oldest. */
  #best(free: readonly ListedAlbum[], place: Place): ListedAlbum | undefined {
    const { albums, journal } = this.#context.synced
    const parent = place.parent?.id ?? null
    const pairs = free.flatMap(album =>
      [place.name, ...this.#rivals(album, place)].map(name => {
        const shows = this.#shown.get(`${album.id}/${name}`) ?? 0
        const isAsked = journal.openCreation(parent, name) !== undefined
        const isRecorded = albums.named(parent, name) !== undefined
        return { album, name, shows, claims: Number(isAsked) + Number(isRecorded || name === album.name) }
      }),
    )
    const byShown = pairs.toSorted(
      ({ album: a, ...one }, { album: b, ...other }) =>
        other.shows - one.shows ||
        other.claims - one.claims ||
        b.image_count - a.image_count ||
        b.sub_count - a.sub_count ||
        dateOf(a) - dateOf(b),
    )
    const left = new Set(free)
    const served = new Set<string>()
    for (const { album, name, shows, claims } of byShown) {
      if (!left.has(album) || served.has(name)) continue
      const isOneName = new Set([...left].map(({ name }) => plainName(name))).size === 1
      if (name === place.name) return shows > 0 || isOneName ? album : undefined
      if (shows + claims === 0) continue
      left.delete(album)
      served.add(name)
    }
    return undefined
  }

  /** How much an album shows that it is this folder's. An image shows one picture at most. */
  async #shows(album: ListedAlbum, place: Place, proves: boolean, signal: AbortSignal): Promise<number> {
    let looks = proves ? LOOKS_MOST : 0
    const prove = async ({ image, file }: Fitting) =>
      looks-- > 0 && isSame((await lookAtFile(this.#context, image, file, signal)) ?? 'other') ? PROVED : 0
    const guess = async ({ isSized }: Fitting) => (isSized ? 2 : 1)
    const pairs = this.#fitting(album, place)
    const used = new Set<object>()
    let shown = 0
    for (const weigh of [prove, guess])
      for (const pair of pairs) {
        if (used.has(pair.image) || used.has(pair.file)) continue
        const shows = await weigh(pair)
        if (shows > 0) used.add(pair.image).add(pair.file)
        shown += shows
      }
    return shown
  }

  /** The images in an album that may be pictures of this folder by their names, and by those of the albums that they lie in. Those
   * that may be by their sizes too come first. */
  #fitting({ id }: ListedAlbum, { parent, name }: Place): Fitting[] {
    const { synced } = this.#context
    const depth = albumNames(synced, parent?.id ?? null).length + 1
    const fitting = this.#foldersAt(parent, name).flatMap(({ id: folder, path }) =>
      synced.files.ofFolder(folder).flatMap(file => {
        const areMade = [...path.slice(depth), imageNameOf(file.name)].map(changesOf)
        const isIt = ({ forms }: Inside) =>
          forms.length === areMade.length && areMade.every((isMade, at) => isMade(forms[at]!))
        const isSized = ({ size }: Inside) => size !== undefined && sizeFits(size, file.size)
        return this.#images
          .get(id)!
          .filter(isIt)
          .map(image => ({ file, image, isSized: isSized(image) }))
      }),
    )
    return fitting.sort((one, other) => Number(other.isSized) - Number(one.isSized))
  }

  /** The recorded folders whose pictures go into the album of a place, or into albums in it. */
  #foldersAt(parent: Album, name: string) {
    const { synced } = this.#context
    const path = [...albumNames(synced, parent?.id ?? null), name]
    return mirroredFolders(synced).filter(folder => path.every((at, n) => at === folder.path[n]))
  }

  /** Finds out how much an album shows of each folder that it may be of. */
  async #lookInto(album: ListedAlbum, place: Place, signal: AbortSignal): Promise<Outcome<unknown>> {
    const { id } = album
    if (!this.#images.has(id)) {
      const walk = await walkEverything(this.#context.host, signal, id)
      if (!walk.ok && walk.failure.remedy !== 'gone') return walk
      this.#images.set(id, walk.ok ? imagesOf(walk.value) : [])
    }
    const rivals = this.#rivals(album, place)
    for (const name of [place.name, ...rivals]) {
      const key = `${id}/${name}`
      if (this.#shown.has(key)) continue
      this.#shown.set(key, await this.#shows(album, { ...place, name }, rivals.length > 0, signal))
    }
    return { ok: true, value: null }
  }
}

function imagesOf({ albums, images }: Walk): Inside[] {
  const byId = new Map(albums.map(album => [album.id, album]))
  const pathOf = (id: string | null): string[] => {
    const album = id === null ? undefined : byId.get(id)
    return album ? [...pathOf(album.parent), album.name] : []
  }
  return images
    .slice(0, ENOUGH)
    .map(image => ({ ...image, forms: [...pathOf(image.album), image.name ?? ''].map(formsOf) }))
}

/** The time of creation. `Date.parse` does not read an ISO 8601 offset without minutes ("+08"). */
function dateOf({ created_at }: ListedAlbum): number {
  return Date.parse(created_at.replace(/[+-]\d\d$/, '$&:00'))
}
