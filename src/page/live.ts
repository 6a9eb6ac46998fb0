import type { Viewers } from './events.ts'
import type { Parts } from './view/document.ts'

/** How long after an event the page is drawn, and how often it is drawn without one, in milliseconds. */
const SOON = 500
const IDLE = 5000
/** Drawing may take one part in so many of the time, because the daemon has other work. */
const SHARE = 20

/** Draws the page for its viewers, while there are any. */
export class Live {
  readonly #viewers: Viewers
  readonly #parts: () => Parts
  readonly #now: () => number
  readonly #failed: (error: unknown) => void
  #timer: NodeJS.Timeout | null = null
  #due = 0
  #notBefore = 0
  #closed = false

  /** `now`: milliseconds on a clock that only goes forward. An error of `parts` goes to `failed`. */
  constructor(viewers: Viewers, parts: () => Parts, now: () => number, failed: (error: unknown) => void) {
    this.#viewers = viewers
    this.#parts = parts
    this.#now = now
    this.#failed = failed
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
    } catch (error) {
      this.#failed(error)
    }
    this.#viewers.beat()
    this.#notBefore = this.#now() + (this.#now() - began) * SHARE
    this.#look(IDLE)
  }
}
