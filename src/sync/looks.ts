import type { EngineContext, LookAtFolders } from './context.ts'

/**
 * Keeps, for one pass, the functions that look at the folders of a root. Their threads serve each further scan of the pass,
 * until `end` is called.
 */
export class Looks {
  readonly #lookAt: EngineContext['lookAt']
  readonly #ofRoot = new Map<string, LookAtFolders>()
  #ended = new AbortController()

  constructor({ lookAt }: Pick<EngineContext, 'lookAt'>) {
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
