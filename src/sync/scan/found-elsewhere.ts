import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'

/** From so many pictures on, a folder that has lost them all at once is in doubt. */
export const MANY = 20

/**
 * Pictures that the scans have found and that have yet to find their image: each accounts for one that was lost, of its
 * size and modification time, wherever it lies.
 */
export class FoundElsewhere {
  readonly #synced: Synced
  readonly #taken: Set<string>
  readonly #emptied: ReadonlySet<number>
  /** Of one size, by modification time. Those of one size may be very many: they are read once. */
  readonly #ofSize = new Map<number, Map<number, FileRow[]>>()

  /** `taken`: what accounts for others already. `emptied`: folders whose records are not what is there. */
  constructor(synced: Synced, taken: Set<string>, emptied: ReadonlySet<number>) {
    this.#synced = synced
    this.#taken = taken
    this.#emptied = emptied
  }

  /** How many of these nothing accounts for. */
  unaccounted(lost: readonly FileRow[]): number {
    return lost.filter(file => !this.#take(file)).length
  }

  #take({ size, mtime }: FileRow): boolean {
    const found = this.#found(size).get(mtime) ?? []
    for (let file = found.pop(); file; file = found.pop()) {
      const key = `${file.folder}/${file.name}`
      if (this.#taken.has(key)) continue
      this.#taken.add(key)
      return true
    }
    return false
  }

  #found(size: number): Map<number, FileRow[]> {
    const known = this.#ofSize.get(size)
    if (known) return known
    const open = this.#synced.files.openOfSize(size).filter(({ folder }) => !this.#emptied.has(folder))
    const byTime = Map.groupBy(open, ({ mtime }) => mtime)
    this.#ofSize.set(size, byTime)
    return byTime
  }
}
