import type { TrueImage } from '../host/host-truth.ts'
import type { Facts } from './facts.ts'

interface Word {
  path: string
  /** True time. */
  at: number
  /** Which bytes were in doubt; null: nobody knows. */
  hashes: ReadonlySet<string> | null
  /** The images that albumd knew for its own. */
  known: ReadonlySet<string>
}

/** What a person has said of uploads in doubt: they are to be sent again, though they may be there. */
export class Words {
  readonly #facts: Pick<Facts, 'now' | 'isOurs'>
  /** All that the host ever had. */
  readonly #images: () => Iterable<TrueImage>
  readonly #words: Word[] = []

  constructor(facts: Pick<Facts, 'now' | 'isOurs'>, images: () => Iterable<TrueImage>) {
    this.#facts = facts
    this.#images = images
  }

  say(path: string, hashes: readonly string[]): void {
    const { now, isOurs } = this.#facts
    const known = new Set([...this.#images()].map(({ id }) => id).filter(isOurs))
    this.#words.push({ path, at: now(), hashes: hashes.length === 0 ? null : new Set(hashes), known })
  }

  get any(): boolean {
    return this.#words.length > 0
  }

  /** Whether a person has said anything about a picture. */
  about(path: string): boolean {
    return this.#words.some(word => word.path === path)
  }

  /** Whether one of two images of a picture was sent before a person's word, and the other after it. */
  allowBoth(one: TrueImage, other: TrueImage): boolean {
    const [first, second] = [one.askedAt, other.askedAt].sort((a, b) => a - b)
    return this.#of(one).some(({ at }) => first! <= at && at < second!)
  }

  /** It may be the one in doubt when its picture was sent again, or the one sent then: one of the two stands for nothing. */
  mayHaveLeft(image: TrueImage): boolean {
    if (this.#facts.isOurs(image.id)) return false
    return this.#of(image).some(word => image.askedAt <= word.at || this.#isTakenForOther(word, image))
  }

  /** The first sent after a word, taken for the one in doubt. Where answers were lost, nothing tells the two apart. */
  #isTakenForOther({ at, known }: Word, image: TrueImage): boolean {
    const alike = [...this.#images()].filter(
      ({ source, hash }) => source === image.source && hash === image.hash,
    )
    const isFirst = !alike.some(({ askedAt }) => at < askedAt && askedAt < image.askedAt)
    return (
      isFirst && alike.some(({ id, askedAt }) => askedAt <= at && !known.has(id) && this.#facts.isOurs(id))
    )
  }

  #of({ source, hash }: TrueImage): Word[] {
    return this.#words.filter(({ path, hashes }) => path === source && (hashes === null || hashes.has(hash)))
  }
}
