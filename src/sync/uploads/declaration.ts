import { exemptFromDimensions } from '../../protocol/formats.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import type { UploadRequest } from '../../protocol/records.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { MetaReads, Tx } from '../../synced/synced.ts'

/** How one picture is declared (§4.1): the type of its bytes and its dimensions as stored, none for an SVG or a TIFF. Once
 * the host has refused these, with `skip_dimension_check`, so that it compares none. */
export class Declaration {
  readonly #picture: Picture
  #skips: boolean
  /** The host reads other dimensions than the file stores, as a host that applies EXIF does to a turned picture. */
  #isMismatched = false

  constructor({ meta }: MetaReads, picture: Picture) {
    const { mime, width, height, turned } = picture
    const isUnknown = !exemptFromDimensions(mime) && (width === null || height === null)
    this.#picture = picture
    this.#skips = isUnknown || (turned === true && meta.get('turned_skip') !== null)
  }

  /** The fields that step 1 of the upload declares. */
  fields(): Pick<UploadRequest, 'mime_type' | 'width' | 'height' | 'skip_dimension_check'> {
    const { mime, width, height } = this.#picture
    if (this.#skips) return { mime_type: mime, skip_dimension_check: true }
    return width === null || height === null || exemptFromDimensions(mime)
      ? { mime_type: mime }
      : { mime_type: mime, width, height }
  }

  /** Notes that the host refused the declaration. Returns whether something else can be declared. */
  refused({ remedy, code }: HostFailure): boolean {
    if (remedy !== 'other_dimensions' || this.#skips) return false
    this.#skips = true
    this.#isMismatched = code === 'DIMENSION_MISMATCH'
    return true
  }

  /** Remembers of an upload that the host took how such pictures are declared, so that each costs one credential. */
  acknowledged({ meta }: Tx): void {
    if (this.#isMismatched && this.#picture.turned && meta.get('turned_skip') === null)
      meta.set('turned_skip', true)
  }
}
