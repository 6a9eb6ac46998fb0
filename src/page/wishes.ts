import type { Errands } from '../daemon/control/errands.ts'
import { type DeedName, deedNamed, type RequestOf } from '../daemon/deeds/all.ts'

/** Something that a person has asked for on the page. */
export interface Wish {
  id: number
  /** In people's words: "retry a/b.png". */
  what: string
  state: 'waits' | 'under way' | 'done' | 'refused'
  /** Why it was refused. */
  why: string | null
  /** When it was done or refused, on the clock that the wishes have. */
  ended: number | null
}

/** How many are shown, and for how long once they have ended, in milliseconds. */
const SHOWN = 4
const SHOWN_MS = 5 * 60_000

/** What people have asked for on the page, and what came of it. The daemon carries it out between its passes. */
export class Wishes {
  readonly #wishes: Wish[] = []
  readonly #changed: () => void
  readonly #now: () => number
  #nextId = 1

  /** `changed` hears that there is something new to show. `now`: milliseconds on a clock that only goes forward. */
  constructor(changed: () => void, now: () => number) {
    this.#changed = changed
    this.#now = now
  }

  /** Asks for it and goes on: it may take hours. */
  ask<N extends DeedName>(errands: Errands, name: N, request: RequestOf<N>, what: string): void {
    const wish: Wish = { id: this.#nextId++, what, state: 'waits', why: null, ended: null }
    this.#wishes.push(wish)
    if (this.#wishes.length > SHOWN) this.#wishes.shift()
    const becomes = (state: Wish['state'], why: string | null = null) => {
      Object.assign(wish, { state, why, ended: state === 'under way' ? null : this.#now() })
      this.#changed()
    }
    const hearing = { tell() {}, say() {}, progress() {} }
    const never = new AbortController().signal
    errands
      .ask(deedNamed(name)!, request, hearing, never, () => becomes('under way'))
      .then(
        () => becomes('done'),
        error => becomes('refused', (error as Error).message),
      )
    this.#changed()
  }

  /** The latest first. */
  latest(): Wish[] {
    const since = this.#now() - SHOWN_MS
    return this.#wishes.filter(({ ended }) => ended === null || ended > since).toReversed()
  }
}
