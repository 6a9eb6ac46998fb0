import { albumName } from '../../sync/albums/album.ts'
import { confirmedPattern } from '../../sync/listing/compare-bytes.ts'
import type { DeliveryPattern } from '../../sync/listing/delivery-pattern.ts'
import type { StandingFile } from '../../synced/standing.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileState } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'

/** A picture that stands on an image of the host. */
export interface MirroredPicture {
  /** The mirror's folder. */
  mirror: string
  /** Below it. */
  path: string
  name: string
  state: FileState
  /** The image is of an earlier version: the file as it is now is not on the host. */
  older: boolean
  /** The album's path on the host; '' is the root. */
  album: string
  image: ImageRow
  /**
   * Null where it is not known. For an image that was only linked it is built as the addresses of uploaded ones are.
   */
  url: string | null
}

/** Tells of files what stands for them on the host. */
export class MirroredPictures {
  readonly #synced: Synced
  #pattern: DeliveryPattern | null | undefined
  /** Most files of a folder are in the same album. */
  #album: { id: number | null; name: string } | null = null

  constructor(synced: Synced) {
    this.#synced = synced
  }

  /** Null for a file that has no image. */
  of(mirror: string, file: StandingFile): MirroredPicture | null {
    const image = file.image === null ? undefined : this.#synced.images.byId(file.image)
    if (!image) return null
    const { path, name, state, hash } = file
    const older = state === 'linked' || state === 'synced' ? false : !hash?.equals(image.hash)
    return { mirror, path, name, state, older, album: this.#albumOf(image), image, url: this.#urlOf(image) }
  }

  #albumOf({ album: id }: ImageRow): string {
    if (this.#album?.id !== id || this.#album === null)
      this.#album = { id, name: albumName(this.#synced, id) }
    return this.#album.name
  }

  #urlOf({ cdn_url, remote_id, name }: ImageRow): string | null {
    if (cdn_url !== null) return cdn_url
    if (this.#pattern === undefined) this.#pattern = confirmedPattern({ synced: this.#synced })
    return this.#pattern?.addressOf(remote_id, name) ?? null
  }
}
