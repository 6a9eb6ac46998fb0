import type { FolderLook } from '../../local/look.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import { foldersAbove, fullPath, nameOf } from '../tree-path.ts'
import { emptied } from './doubts.ts'

/** From so many pictures on, a folder that has lost them all at once is in doubt. */
const MANY = 20

/** A look at a folder, with the pictures with an image that were all it held and that it lost. */
interface EmptiedLook {
  folder: FolderRow
  digest: string | null
  look: FolderLook
  lost: FileRow[]
}

/**
 * Folders that are there and have lost all their many pictures at once. A disk that fails looks like that, and so does
 * a person who sorts pictures into other folders. Which of them it was is known once everything was looked at.
 */
export class EmptiedFolders {
  readonly #synced: Synced
  readonly #waiting = new Map<string, EmptiedLook>()

  constructor(synced: Synced) {
    this.#synced = synced
  }

  any(): boolean {
    return this.#waiting.size > 0
  }

  /** Takes a look aside, to be decided about later. False where there is nothing to wonder about. */
  defer(look: EmptiedLook): boolean {
    const { path } = look.folder
    if (look.lost.length < MANY) {
      this.#waiting.delete(path)
      return false
    }
    this.#waiting.set(path, look)
    return true
  }

  /** Whether a folder, or one above it, lies in one that waits and does not list it: it is not known to be gone. */
  misses(path: string): boolean {
    if (this.#waiting.size === 0) return false
    const line = [...foldersAbove(path), path]
    return line.some((above, at) => {
      const next = line[at + 1]
      const waiting = next === undefined ? undefined : this.#waiting.get(above)
      return waiting !== undefined && !waiting.look.folders.includes(nameOf(next!))
    })
  }

  /** All that wait, each with the doubt about it, or null where the pictures moved. `root`: the mirror's folder. */
  settle(taken: Set<string>, root: string): (EmptiedLook & { doubt: string | null })[] {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    const elsewhere = new FoundElsewhere(this.#synced, taken, new Set(waiting.map(({ folder }) => folder.id)))
    return waiting.map(look => {
      const { lost, folder } = look
      const stays = elsewhere.unaccounted(lost) < MANY
      return { ...look, doubt: stays ? null : emptied(fullPath(root, folder.path), lost.length) }
    })
  }
}

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
