import { foundInAlbum } from '../../records/images.ts'
import type { ImageHost } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Album } from '../album.ts'
import type { Clock } from '../clock.ts'
import { recordPlaces, walkEverything } from '../listing/index.ts'
import type { Tell } from '../pass-events.ts'

interface Parts {
  synced: Synced
  host: ImageHost
  clock: Pick<Clock, 'monotonic'>
  tell: Tell
}

/** Everything is listed for it: a host that lists late is given time. */
const NEXT_LOOK_MS = 60_000

/**
 * What is uploaded without an album lands in the account's default album where one is set (§4.1), and nothing else
 * tells which. So the first such upload goes alone, and is looked for.
 */
export class DefaultAlbum {
  #turn: Promise<unknown> = Promise.resolve()
  #canNotKnow = false
  /** Images that were uploaded without an album and are not listed yet. */
  readonly #unseen = new Set<string>()
  #nextLook = Number.NEGATIVE_INFINITY

  /** Where uploads without an album land; undefined where that is not known. Null is the root. */
  known({ synced }: Pick<Parts, 'synced'>): Album | undefined {
    const id = synced.meta.get('default_album')
    if (id === null) return this.#canNotKnow ? null : undefined
    return id === '' ? null : (synced.albums.byRemoteId(id) ?? undefined)
  }

  /** Does work one at a time. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** Looks for an image that was uploaded without an album, and for those before it that were not listed then. */
  async learn({ synced, host, clock, tell }: Parts, imageId: string, signal: AbortSignal): Promise<void> {
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
      const places = recordPlaces(tx, { ...walk.value, images })
      for (const { id, album } of images) {
        const row = tx.images.byRemoteId(id)
        if (row) foundInAlbum(tx, row, places.get(album) ?? null)
      }
    })
    const album = image.album === null ? null : walk.value.albums.find(({ id }) => id === image.album)
    if (album) tell({ event: 'default_album_found', album: album.name })
  }
}
