import type { EngineContext, LookAtFolders } from './context.ts'

/**
 * The looks of a pass at the folders of its roots. What they need, such as threads, stays for the next scan of the pass until
 * it is ended.
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

  /** A later look begins anew. */
  end(): void {
    this.#ended.abort()
    this.#ended = new AbortController()
    this.#ofRoot.clear()
  }
}
