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
}

/** How many are shown. */
const SHOWN = 4

/** What people have asked for on the page, and what came of it. The daemon carries it out between its passes. */
export class Wishes {
  readonly #wishes: Wish[] = []
  readonly #changed: () => void
  #nextId = 1

  /** `changed` hears that there is something new to show. */
  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Asks for it and goes on: it may take hours. */
  ask<N extends DeedName>(errands: Errands, name: N, request: RequestOf<N>, what: string): void {
    const wish: Wish = { id: this.#nextId++, what, state: 'waits', why: null }
    this.#wishes.push(wish)
    if (this.#wishes.length > SHOWN) this.#wishes.shift()
    const becomes = (state: Wish['state'], why: string | null = null) => {
      Object.assign(wish, { state, why })
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
  latest(): readonly Wish[] {
    return this.#wishes.toReversed()
  }
}
