import type { Parts } from './view/document.ts'

/** Whoever looks at the page. */
interface Viewer {
  stream: ReadableStreamDefaultController<Uint8Array>
  seen: Parts
}

/** So many look at a time: each tab that is seen is one. */
const MOST = 100
/** Bytes. Somebody who has not taken so many is told no more until then. */
const AHEAD = 64 * 1024
/** Milliseconds after which a browser asks again, once the connection is lost. */
const RETRY = 1500

/** Server-sent events: each viewer is told the parts that have changed since he was told the last time. */
export class Viewers {
  readonly #viewers = new Set<Viewer>()
  readonly #encoder = new TextEncoder()
  /** Hears that somebody has come. */
  onCome: () => void = () => {}

  get any(): boolean {
    return this.#viewers.size > 0
  }

  /** A stream for one more, or null where there are too many. `version`: of the page. */
  welcome(version: string): ReadableStream<Uint8Array> | null {
    if (this.#viewers.size >= MOST) return null
    let viewer: Viewer | null = null
    return new ReadableStream<Uint8Array>(
      {
        start: stream => {
          viewer = { stream, seen: {} }
          this.#viewers.add(viewer)
          this.#tell(viewer, `retry: ${RETRY}\nevent: version\ndata: ${JSON.stringify(version)}\n\n`)
          this.onCome()
        },
        cancel: () => void this.#viewers.delete(viewer!),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }),
    )
  }

  show(parts: Parts): void {
    for (const viewer of this.#viewers) {
      const news = Object.entries(parts).filter(([id, part]) => viewer.seen[id] !== part)
      // Nobody is told less than everything: whoever does not listen is told later.
      if (news.length === 0 || (viewer.stream.desiredSize ?? 0) <= 0) continue
      viewer.seen = parts
      this.#tell(viewer, `event: parts\ndata: ${JSON.stringify(Object.fromEntries(news))}\n\n`)
    }
  }

  /** Finds out who has gone without a word. For whom something waits already, that does it: a frozen tab stays for days. */
  beat(): void {
    for (const viewer of this.#viewers) if (viewer.stream.desiredSize === AHEAD) this.#tell(viewer, ': \n\n')
  }

  close(): void {
    for (const { stream } of this.#viewers) {
      try {
        stream.close()
      } catch {
        // He has gone.
      }
    }
    this.#viewers.clear()
  }

  #tell(viewer: Viewer, text: string): void {
    try {
      viewer.stream.enqueue(this.#encoder.encode(text))
    } catch {
      this.#viewers.delete(viewer)
    }
  }
}
