import type { Interruption, News } from '../../../src/sync/pass-request.ts'
import type { Timeline } from './virtual-clock.ts'

/** Given as the reason: an error made for each, with its stack, takes 2 % of a history's time. */
export const ENDED = 'ended'

/** What may end a pass, or a part of it, before its end. */
export class Interruptions {
  readonly #time: Timeline
  #stop = new AbortController()
  #cut = new AbortController()
  #pauseUploads = new AbortController()
  #makeWay = new AbortController()

  constructor(time: Timeline) {
    this.#time = time
  }

  /** Those of the next pass. */
  begin(news: News | null): Interruption {
    this.#stop = new AbortController()
    this.#cut = new AbortController()
    return this.goOn(news)
  }

  /** Those of another pass that belongs to the same work. */
  goOn(news: News | null): Interruption {
    this.#pauseUploads = new AbortController()
    this.#makeWay = new AbortController()
    return {
      stop: this.#stop.signal,
      cut: this.#cut.signal,
      pauseUploads: this.#pauseUploads.signal,
      makeWay: this.#makeWay.signal,
      ...(news && { news }),
    }
  }

  get madeWay(): boolean {
    return this.#makeWay.signal.aborted
  }

  get stopped(): boolean {
    return this.#stop.signal.aborted
  }

  /** As SIGTERM: nothing new is begun, and after a while what is under way is cut off. */
  end(graceMs: number): void {
    const cut = this.#cut
    this.#stop.abort(ENDED)
    this.#time.after(graceMs, () => cut.abort(ENDED))
  }

  pauseUploads(): void {
    this.#pauseUploads.abort(ENDED)
  }

  /** A person waits for something else: uploads pause too. */
  makeWay(): void {
    this.#makeWay.abort(ENDED)
    this.#pauseUploads.abort(ENDED)
  }
}
