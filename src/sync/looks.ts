import type { EngineContext, LookAtFolders } from './context.ts'

/** The functions that look at a root's folders, with their threads. They are kept for one pass, until `end`. */
export class Looks {
  readonly #lookAt: EngineContext['lookAt']
  readonly #ofRoot = new Map<string, LookAtFolders>()
  #ended = new AbortController()

  constructor(lookAt: EngineContext['lookAt']) {
    this.#lookAt = lookAt
  }

  at(root: string): LookAtFolders {
    const look = this.#ofRoot.get(root) ?? this.#lookAt(root, this.#ended.signal)
    this.#ofRoot.set(root, look)
    return look
  }

  /** Ends the threads. A scan that follows starts new threads. */
  end(): void {
    this.#ended.abort()
    this.#ended = new AbortController()
    this.#ofRoot.clear()
  }
}
