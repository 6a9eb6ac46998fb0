import { albumName } from '../../../src/sync/album.ts'
import type { AlbumRow } from '../../../src/synced/tables/albums.ts'
import type { World } from '../engine/world.ts'
import { isIn, type TrueAlbum } from './host-truth.ts'
import { listedName } from './listing-view.ts'

type Surroundings = Pick<World, 'disk' | 'history' | 'oracle' | 'state' | 'truth'>

/** Albums of several folders that the host lists under one name. What lies in them tells whose they are, if albumd has not made
 * them, or its state was lost. */
export class AlikeAlbums {
  readonly #world: Surroundings
  /** The ids of albums of which nothing told that when a pass began, before they were recorded. */
  readonly #untold = new Set<string>()

  constructor(world: Surroundings) {
    this.#world = world
  }

  passBegins(): void {
    const { disk, history, oracle, truth } = this.#world
    if (history.variations.renames === null) return
    for (const album of truth.liveAlbums()) {
      if (this.#recordOf(album) || (album.by === 'albumd' && !oracle.stateLost)) continue
      const isTold = truth
        .live()
        .some(image => isIn(image.album, album) && image.source !== null && disk.find(image.source))
      if (isTold) this.#untold.delete(album.id)
      else this.#untold.add(album.id)
    }
  }

  /** Whether albumd has taken an album, or one above it, for that of another folder, and could not know. */
  isTaken(album: TrueAlbum | null): boolean {
    if (album === null) return false
    const recorded = this.#recordOf(album)
    const isOther = recorded !== undefined && recorded.name !== album.name && this.#untold.has(album.id)
    return isOther || this.isTaken(album.parent)
  }

  /** The path for which albumd has taken an album; null: as it is. */
  takenFor(album: TrueAlbum | null): string | null {
    const recorded = album && this.#recordOf(album)
    return recorded && this.isTaken(album) ? albumName(this.#world.state.synced, recorded.id) : null
  }

  /** A walk records albums that nothing uses under the names that are listed. */
  #recordOf({ id, name }: TrueAlbum): AlbumRow | undefined {
    const recorded = this.#world.state.synced.albums.byRemoteId(id)
    const listed = listedName(name, this.#world.history.variations)
    return recorded?.name === listed && listed !== name ? undefined : recorded
  }
}
