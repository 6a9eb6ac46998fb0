import { type Node, split, upwards } from './tree.ts'

/** Which bytes every path has ever held, and when each was last changed: for the oracle. */
export class DiskHistory {
  /** Counts all that happens, for what was before what. */
  #moment = 1
  readonly #changed = new Map<string, number>()
  readonly #changedIn = new Map<string, number>()
  /** In the order in which they were held last. */
  readonly #held = new Map<string, Set<string>>()
  /** The folders (and roots) that watchers would have told of since they were last asked. */
  readonly stale = new Set<string>()

  /** What just happened comes after all that happened before. */
  happens(): number {
    return ++this.#moment
  }

  /** When a path, or a folder above it, last changed. */
  changedAt(path: string): number {
    let at = 0
    for (const above of upwards(path)) at = Math.max(at, this.#changed.get(above) ?? 0)
    return at
  }

  /** When something directly in a folder last came, went or changed. */
  changedIn(folder: string): number {
    return Math.max(this.changedAt(folder), this.#changedIn.get(folder) ?? 0)
  }

  /** Whether a path ever held these bytes. */
  everHeld(path: string, hash: string): boolean {
    return this.#held.get(path)?.has(hash) ?? false
  }

  /** The bytes that it held last. */
  lastHeld(path: string): string | undefined {
    return [...(this.#held.get(path) ?? [])].at(-1)
  }

  /** Every path that ever held something. */
  paths(): Iterable<string> {
    return this.#held.keys()
  }

  /** A path has changed, with all below it. */
  protected note(path: string, node: Node | null, below: Iterable<[string, Node]>): void {
    this.#changed.set(path, this.happens())
    this.#changedIn.set(split(path).folder, this.#moment)
    this.stale.add(split(path).folder || path)
    if (node?.kind === 'folder') this.stale.add(path)
    this.#holds(path, node)
    for (const [at, child] of below) this.#holds(at, child)
  }

  #holds(path: string, node: Node | null): void {
    if (node?.kind !== 'file') return
    const held = this.#held.get(path) ?? new Set()
    held.delete(node.hash)
    this.#held.set(path, held.add(node.hash))
  }
}
