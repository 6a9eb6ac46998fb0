import { FLAWS, type Flaw, type Part } from './part.ts'

/** Whether all of a picture is there, by its structure alone.
 * closed: it is. `early`: the file ends with the picture's end, so its writer has finished. Otherwise more bytes follow the
 * end, or may follow. odd: all that its pixels need is there, and the form is broken. missing: it is not. */
export type Verdict = { kind: 'closed'; early: boolean } | ({ kind: 'odd' | 'missing' } & Flaw)

/** The verdict about the parts of a file of `size` bytes: the worst flaw decides, the first of its kind is named. */
export class VerdictFold {
  #worst: Flaw | null = null
  #last: Part | null = null

  take(part: Part): void {
    this.#last = part
    const { flaw } = part
    if (flaw && (this.#worst === null || BADNESS[FLAWS[flaw.code]] > BADNESS[FLAWS[this.#worst.code]]))
      this.#worst = flaw
  }

  verdict(size: number): Verdict {
    const [worst, last] = [this.#worst, this.#last]
    if (worst) {
      const kind = FLAWS[worst.code] === 'missing' ? 'missing' : 'odd'
      return { kind, ...worst, at: Math.min(worst.at, size) }
    }
    return { kind: 'closed', early: last?.role === 'end' && last.to === size }
  }
}

const BADNESS = { zeros: 1, odd: 2, missing: 3 }
