import { foundInAlbum } from '../../records/images.ts'
import type { Album } from '../album.ts'
import type { AlbumPort } from '../context.ts'
import { recordAlbums, walkEverything } from '../listing/index.ts'

/** When a look did not show the image, the next look comes so many milliseconds later, because a look walks everything, and
 * a host may be late to list the image. */
const NEXT_LOOK_MS = 60_000

/** A picture that is uploaded without an album lands in the account's default album, when the account has one (§4.1). No
 * answer of the host names the default album. So the first upload without an album goes alone, and then all albums are
 * walked to see where its image is. */
export class DefaultAlbum {
  #canNotKnow = false
  /** The ids of images that were uploaded without an album and are not listed yet. */
  readonly #unseen = new Set<string>()
  #nextLook = Number.NEGATIVE_INFINITY

  /** The album in which uploads without an album land. Null is the root; undefined: the album is not known yet. */
  known({ synced }: AlbumPort): Album | undefined {
    const id = synced.meta.get('default_album')
    if (id === null) return this.#canNotKnow ? null : undefined
    return id === '' ? null : (synced.albums.byRemoteId(id) ?? undefined)
  }

  /** Looks for the image of an upload without an album. Also looks for earlier such images that were not listed yet. */
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
