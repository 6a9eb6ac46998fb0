import type { TrueImage } from '../host/host-truth.ts'

interface Word {
  path: string
  /** True time. */
  at: number
  /** Which bytes were in doubt; null: nobody knows. */
  hashes: ReadonlySet<string> | null
}

/** What a person has said of uploads in doubt: they are to be sent again, though they may be there. */
export class Words {
  readonly #now: () => number
  readonly #words: Word[] = []

  /** `now`: true time. */
  constructor(now: () => number) {
    this.#now = now
  }

  say(path: string, hashes: readonly string[]): void {
    this.#words.push({ path, at: this.#now(), hashes: hashes.length === 0 ? null : new Set(hashes) })
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

  /** Whether an image may be one that was in doubt when a person had its picture sent again: nothing stands on it. */
  mayHaveLeft(image: TrueImage): boolean {
    return this.#of(image).some(({ at }) => image.askedAt <= at)
  }

  #of({ source, hash }: TrueImage): Word[] {
    return this.#words.filter(({ path, hashes }) => path === source && (hashes === null || hashes.has(hash)))
  }
}
