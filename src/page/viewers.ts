import type { Parts } from './view/document.ts'

/** One open page. */
interface Viewer {
  stream: ReadableStreamDefaultController<Uint8Array>
  seen: Parts
}

/** How many pages may be open at a time. */
const MOST = 100
/** When a viewer has this many bytes still to read, the viewer gets no more until these bytes are read. */
const AHEAD = 64 * 1024
/** Milliseconds after which a browser connects again when the connection is lost. */
const RETRY = 1500
/** Milliseconds from an event until the page is drawn. */
const SOON = 500
/** Milliseconds between two drawings without an event. */
const IDLE = 5000
/** Drawing takes at most one SHARE-th of the time, because the daemon has other work. */
const SHARE = 20

/**
 * Draws the page for its viewers, while there are any. Each viewer gets the parts of the page that changed since the last
 * event to that viewer, as server-sent events.
 */
export class Viewers {
  readonly #parts: () => Parts
  readonly #now: () => number
  readonly #failed: (error: unknown) => void
  readonly #viewers = new Set<Viewer>()
  readonly #encoder = new TextEncoder()
  #timer: NodeJS.Timeout | null = null
  #due = 0
  #notBefore = 0

  /** `now`: milliseconds on a clock that only goes forward. An error of `parts` goes to `failed`. */
  constructor(parts: () => Parts, now: () => number, failed: (error: unknown) => void) {
    this.#parts = parts
    this.#now = now
    this.#failed = failed
  }

  /** A stream for one more viewer. Null: there are too many. `version`: albumd's. */
  welcome(version: string): ReadableStream<Uint8Array> | null {
    if (this.#viewers.size >= MOST) return null
    let viewer: Viewer | null = null
    return new ReadableStream<Uint8Array>(
      {
        start: stream => {
          viewer = { stream, seen: {} }
          this.#viewers.add(viewer)
          this.#tell(viewer, `retry: ${RETRY}\nevent: version\ndata: ${JSON.stringify(version)}\n\n`)
          this.#drawWithin(0)
        },
        cancel: () => void this.#viewers.delete(viewer!),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }),
    )
  }

  /** Has the page drawn soon, because there may be news to show. */
  readonly changed = (): void => this.#drawWithin(SOON)

  show(parts: Parts): void {
    for (const viewer of this.#viewers) {
      const news = Object.entries(parts).filter(([id, part]) => viewer.seen[id] !== part)
      // A viewer who does not read gets all changes later, in one event.
      if (news.length === 0 || (viewer.stream.desiredSize ?? 0) <= 0) continue
      viewer.seen = parts
      this.#tell(viewer, `event: parts\ndata: ${JSON.stringify(Object.fromEntries(news))}\n\n`)
    }
  }

  /** Writes a comment to viewers who have read everything, because only a write shows that a connection is lost. */
  beat(): void {
    for (const viewer of this.#viewers) if (viewer.stream.desiredSize === AHEAD) this.#tell(viewer, ': \n\n')
  }

  close(): void {
    for (const { stream } of this.#viewers) {
      try {
        stream.close()
      } catch {
        // The viewer has closed the stream already.
      }
    }
    this.#viewers.clear()
    if (this.#timer) clearTimeout(this.#timer)
  }

  #tell(viewer: Viewer, text: string): void {
    try {
      viewer.stream.enqueue(this.#encoder.encode(text))
    } catch {
      this.#viewers.delete(viewer)
    }
  }

  #drawWithin(ms: number): void {
    if (this.#viewers.size === 0) return
    const due = Math.max(this.#now() + ms, this.#notBefore)
    if (this.#timer && this.#due <= due) return
    if (this.#timer) clearTimeout(this.#timer)
    this.#due = due
    this.#timer = setTimeout(() => this.#draw(), Math.max(0, due - this.#now())).unref()
  }

  #draw(): void {
    this.#timer = null
    if (this.#viewers.size === 0) return
    const began = this.#now()
    try {
      this.show(this.#parts())
    } catch (error) {
      this.#failed(error)
    }
    this.beat()
    this.#notBefore = this.#now() + (this.#now() - began) * SHARE
    this.#drawWithin(IDLE)
  }
}
