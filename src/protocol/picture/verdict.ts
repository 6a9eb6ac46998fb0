import { FLAWS, type Flaw, type Part } from './part.ts'

/** Whether all of a picture is there, by its structure alone.
 * closed: it is. `early`: the file ends with the picture's end, so its writer has finished. Otherwise more bytes follow the
 * end, or may follow. odd: all that its pixels need is there, and the form is broken. missing: it is not. */
export type Verdict = { kind: 'closed'; early: boolean } | ({ kind: 'odd' | 'missing' } & Flaw)

const BADNESS = { zeros: 1, odd: 2, missing: 3 }

/** The verdict about the parts of a file of `size` bytes: the worst flaw decides, the first of its kind is named. */
export class VerdictFold {
  #worst: Flaw | null = null
  #last: Part | null = null

  take(part: Part): void {
    this.#last = part
    const badness = (flaw?: Flaw | null) => (flaw ? BADNESS[FLAWS[flaw.code]] : 0)
    if (badness(part.flaw) > badness(this.#worst)) this.#worst = part.flaw!
  }

  verdict(size: number): Verdict {
    const [worst, last] = [this.#worst, this.#last]
    if (worst === null) return { kind: 'closed', early: last?.role === 'end' && last.to === size }
    const kind = FLAWS[worst.code] === 'missing' ? 'missing' : 'odd'
    return { kind, ...worst, at: Math.min(worst.at, size) }
  }
}
