import type { FolderLook } from '../../local/look.ts'
import type { Synced } from '../../synced/synced.ts'
import { type FileRow, textOf } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import { because } from '../../words/reasons.ts'
import { foldersAbove, fullPath, nameOf } from '../tree-path.ts'
import type { Doubt } from './doubts.ts'

/** A folder that loses all its pictures at once is in doubt when it had at least so many pictures. */
const MANY = 20

/** What was seen in a folder that lost all its pictures. `lost`: the files of these pictures that use an image. */
interface EmptiedLook {
  folder: FolderRow
  digest: string | null
  look: FolderLook
  lost: FileRow[]
}

/**
 * Emptied folders: folders that are on the disk and have lost all their many pictures at once. Either their disk fails, or
 * a person has moved the pictures into other folders. Once everything was scanned, albumd knows whether pictures of the
 * same sizes and times have appeared in other folders.
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

  /**
   * Keeps what was seen in a folder until everything was scanned. Answers false when the folder has lost fewer than `MANY`
   * pictures.
   */
  defer(look: EmptiedLook): boolean {
    const { path } = look.folder
    if (look.lost.length < MANY) {
      this.#waiting.delete(path)
      return false
    }
    this.#waiting.set(path, look)
    return true
  }

  /**
   * Whether the folder, or a folder above it, is missing from an emptied folder that waits. The folder is not recorded as
   * missing yet, because the emptied folder may be in doubt.
   */
  misses(path: string): boolean {
    if (this.#waiting.size === 0) return false
    const line = [...foldersAbove(path), path]
    return line.some((above, at) => {
      const next = line[at + 1]
      const waiting = next === undefined ? undefined : this.#waiting.get(above)
      return waiting !== undefined && !waiting.look.folders.includes(nameOf(next!))
    })
  }

  /**
   * The emptied folders, each with its doubt. Null in the place of a doubt: the folder's pictures have moved. `root`: the
   * mirror's folder.
   */
  settle(taken: Set<string>, root: string): (EmptiedLook & { doubt: Doubt | null })[] {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    const isElsewhere = foundElsewhere(this.#synced, taken, new Set(waiting.map(({ folder }) => folder.id)))
    return waiting.map(look => {
      const { lost, folder } = look
      const stays = lost.filter(file => !isElsewhere(file)).length < MANY
      const why = because('folder_emptied', { folder: fullPath(root, folder.path), pictures: lost.length })
      return { ...look, doubt: stays ? null : { folder, code: 'FOLDER_EMPTIED', why } }
    })
  }
}

/**
 * Tells whether a lost picture was found in another folder. The candidates are pictures that the scans have found and that
 * use no image yet. Each candidate stands for one lost picture of the same size and modification time. `taken`: candidates
 * that stand for another lost picture already. `emptied`: the rows of emptied folders, whose records still name the lost
 * pictures.
 */
export function foundElsewhere(
  { files }: Pick<Synced, 'files'>,
  taken: Set<string>,
  emptied: ReadonlySet<number>,
): (lost: FileRow) => boolean {
  // The candidates are read once for each size, because there may be very many of one size.
  const bySize = new Map<number, Map<number, FileRow[]>>()
  const read = (size: number) => {
    const open = files.openOfSize(size).filter(({ folder }) => !emptied.has(folder))
    const byTime = Map.groupBy(open, ({ mtime }) => mtime)
    bySize.set(size, byTime)
    return byTime
  }
  return ({ size, mtime }) => {
    const found = (bySize.get(size) ?? read(size)).get(mtime) ?? []
    for (let file = found.pop(); file; file = found.pop()) {
      const key = textOf(file)
      if (taken.has(key)) continue
      taken.add(key)
      return true
    }
    return false
  }
}
