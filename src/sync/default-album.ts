import type { ImageHost } from '../remote/host.ts'
import type { Synced } from '../synced/synced.ts'
import type { Album } from './album.ts'
import { recordPlaces } from './album-places.ts'
import type { Tell } from './pass-events.ts'
import { walkEverything } from './walk.ts'

interface Parts {
  synced: Synced
  host: ImageHost
  tell: Tell
}

/**
 * What is uploaded without an album lands in the account's default album where one is set (§4.1), and nothing else
 * tells which. So the first such upload goes alone, and is looked for.
 */
export class DefaultAlbum {
  #turn: Promise<unknown> = Promise.resolve()
  #canNotKnow = false

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

  /** Looks for an image that was uploaded without an album. */
  async learn({ synced, host, tell }: Parts, imageId: string, signal: AbortSignal): Promise<void> {
    const walk = await walkEverything(host, signal)
    if (!walk.ok) {
      this.#canNotKnow ||= walk.failure.remedy === 'plan'
      return
    }
    const image = walk.value.images.find(({ id }) => id === imageId)
    if (!image) return
    await synced.commit(() => {
      synced.meta.set('default_album', image.album ?? '')
      const place = recordPlaces(synced, { ...walk.value, images: [image] }).get(image.album) ?? null
      const row = synced.images.byRemoteId(imageId)
      if (row) synced.images.moved(row.id, place)
    })
    const album = image.album === null ? null : walk.value.albums.find(({ id }) => id === image.album)
    if (album) tell({ event: 'default_album_found', album: album.name })
  }
}
