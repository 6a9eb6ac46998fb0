import type { MirrorPolicy } from '../../src/sync/scan/mirror-scans.ts'
import type { TrueImage } from './host-truth.ts'

const WINDOW_MS = 86_400_000

/** What was deleted unasked, over the last day of running. */
export class DeletionWindow {
  #givenUp: { image: TrueImage; mirror: MirrorPolicy; at: number }[] = []

  /** Answers how many of the mirror's images that are with this one. Asked for again it is still one. */
  add(image: TrueImage, mirror: MirrorPolicy, now: number): number {
    this.#givenUp = this.#givenUp.filter(given => given.at > now - WINDOW_MS && given.image !== image)
    this.#givenUp.push({ image, mirror, at: now })
    return this.#givenUp.filter(given => given.mirror === mirror).length
  }

  images(): TrueImage[] {
    return this.#givenUp.map(({ image }) => image)
  }

  /** It is none after all. */
  remove(id: string): void {
    this.#givenUp = this.#givenUp.filter(({ image }) => image.id !== id)
  }
}
