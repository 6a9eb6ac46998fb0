import type { HostFailure, ImageHost, Outcome } from '../../remote/host.ts'
import { type WholeWalk, walkWhole } from './walk.ts'

/** Which images the host lists in albums, each walked once. It lives for one round of deletions. Null is the root. */
export class ListedIds {
  readonly #host: Pick<ImageHost, 'list'>
  readonly #walks = new Map<string | null, Promise<Outcome<WholeWalk>>>()

  constructor(host: Pick<ImageHost, 'list'>) {
    this.#host = host
  }

  /** Whether an album lists this image; where it can't be had, why. */
  async has(album: string | null, imageId: string, signal: AbortSignal): Promise<boolean | HostFailure> {
    const walk = this.#walks.get(album) ?? walkWhole(this.#host, album, signal)
    this.#walks.set(album, walk)
    const walked = await walk
    if (walked.ok) return walked.value.images.some(({ id }) => id === imageId)
    return walked.failure.remedy === 'gone' ? false : walked.failure
  }
}
