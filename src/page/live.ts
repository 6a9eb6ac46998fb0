import type { Parts } from './document.ts'
import type { Viewers } from './events.ts'

/** Milliseconds between two looks, while something happens and while nothing does. */
const SOON = 500
const IDLE = 5000
/** A look that takes long is not taken all the time: the daemon has other work. */
const SHARE = 20

/** Shows what there is to see, as long as somebody looks. */
export class Live {
  readonly #viewers: Viewers
  readonly #parts: () => Parts
  readonly #now: () => number
  #timer: NodeJS.Timeout | null = null
  #due = 0
  #notBefore = 0
  #closed = false

  /** `now`: milliseconds on a clock that only goes forward. `parts` may throw: then nothing is shown. */
  constructor(viewers: Viewers, parts: () => Parts, now: () => number) {
    this.#viewers = viewers
    this.#parts = parts
    this.#now = now
    viewers.onCome = () => this.#look(0)
  }

  /** Something has happened. */
  readonly changed = (): void => {
    if (this.#viewers.any) this.#look(SOON)
  }

  close(): void {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  #look(within: number): void {
    if (this.#closed) return
    const due = Math.max(this.#now() + within, this.#notBefore)
    if (this.#timer && this.#due <= due) return
    if (this.#timer) clearTimeout(this.#timer)
    this.#due = due
    this.#timer = setTimeout(() => this.#show(), Math.max(0, due - this.#now())).unref()
  }

  #show(): void {
    this.#timer = null
    if (!this.#viewers.any) return
    const began = this.#now()
    try {
      this.#viewers.show(this.#parts())
    } catch {
      // The state fails: its trouble is told once the daemon knows of it.
    }
    this.#viewers.beat()
    this.#notBefore = this.#now() + (this.#now() - began) * SHARE
    this.#look(IDLE)
  }
}
