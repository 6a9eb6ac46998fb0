import type { FolderLook } from '../../local/look.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import { foldersAbove, fullPath, nameOf } from '../tree-path.ts'
import { emptied } from './doubts.ts'
import { FoundElsewhere, MANY } from './found-elsewhere.ts'

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
