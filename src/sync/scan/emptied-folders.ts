import type { FolderLook } from '../../local/look.ts'
import type { FileChange } from '../../records/pictures.ts'
import type { Synced } from '../../synced/synced.ts'
import { type FileRow, textOf } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import { because } from '../../words/reasons.ts'
import { foldersAbove, fullPath, nameOf } from '../tree-path.ts'
import type { Doubt } from './doubts.ts'

/** How many pictures a folder had at least that is in doubt because it lost all of them at once. */
const MANY = 20

/** What was seen in a folder that lost pictures. */
interface LackingLook {
  folder: FolderRow
  digest: string | null
  look: FolderLook
  changes: FileChange[]
  /** The files of the lost pictures that may be on the host. */
  lost: FileRow[]
  /** Another folder lies in the place of the recorded one. `lost` then includes the pictures of all folders below. */
  isOther: boolean
  /** The other folder, or one below it, shows a picture just as it is recorded. */
  isCopy: boolean
}

/** Folders that have lost all their many pictures at once, and folders that lie in the place of a recorded one, lack pictures and
 * show others just as recorded. (One that shows none was made anew: grace and hold decide.) Their disk fails, a backup was put
 * there, or the pictures have moved. Once all was scanned, albumd knows whether their sizes and times have appeared elsewhere. */
export class EmptiedFolders {
  readonly #synced: Synced
  readonly #waiting = new Map<string, LackingLook>()

  constructor(synced: Synced) {
    this.#synced = synced
  }

  any(): boolean {
    return this.#waiting.size > 0
  }

  /** Keeps what was seen in a folder until everything was scanned. False: the folder lost too little to be in doubt. */
  defer(seen: LackingLook): boolean {
    const { folder, lost, isOther } = seen
    const lacks = isOther ? lost.length > 0 : isEmptied(seen)
    if (lacks) this.#waiting.set(folder.path, seen)
    else this.#waiting.delete(folder.path)
    return lacks
  }

  /** Whether the folder, or one above it, is missing from an emptied folder that still waits for the decision about its doubt. */
  misses(path: string): boolean {
    if (this.#waiting.size === 0) return false
    const line = [...foldersAbove(path), path]
    return line.some((above, at) => {
      const next = line[at + 1]
      const waiting = next === undefined ? undefined : this.#waiting.get(above)
      return waiting !== undefined && !waiting.look.folders.includes(nameOf(next!))
    })
  }

  /** The emptied folders, each with its doubt, or with null where its pictures have moved. `root`: the mirror's folder. */
  settle(taken: Set<string>, root: string): (LackingLook & { doubt: Doubt | null })[] {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    const found = waiting.flatMap(({ changes }) =>
      changes.flatMap(({ kind, was, file }) =>
        kind === 'pending' && (was === null || was === 'gone') ? file : [],
      ),
    )
    const lacking = new Set(
      waiting.flatMap(({ folder, lost }) => [folder.id, ...lost.map(file => file.folder)]),
    )
    const find = foundElsewhere(this.#synced, taken, lacking, found)
    // While a folder is in doubt already, copies of its pictures may move. They take their new places first.
    if (waiting.some(({ folder }) => folder.unknown !== null))
      for (const gone of this.#synced.files.inState('gone'))
        if (!taken.has(textOf(gone)) && find(gone)) taken.add(textOf(gone))
    // A lost picture is asked about for its folder, and for each other folder above.
    const answers = new Map<string, boolean>()
    const isElsewhere = (file: FileRow) => {
      const key = textOf(file)
      const answer = answers.get(key) ?? find(file)
      answers.set(key, answer)
      return answer
    }
    return waiting.map(seen => {
      const { lost, folder, isCopy } = seen
      const missing = lost.filter(file => !isElsewhere(file)).length
      if (missing < (isCopy ? 1 : isEmptied(seen) ? MANY : Number.POSITIVE_INFINITY))
        return { ...seen, doubt: null }
      const at = fullPath(root, folder.path)
      const doubt: Doubt = isCopy
        ? { folder, code: 'FOLDER_OLDER', why: because('folder_older', { folder: at }) }
        : {
            folder,
            code: 'FOLDER_EMPTIED',
            why: because('folder_emptied', { folder: at, pictures: lost.length }),
          }
      return { ...seen, doubt }
    })
  }
}

function isEmptied({ look, lost }: LackingLook): boolean {
  return look.files.length === 0 && lost.length >= MANY
}

/** Whether another folder lies in the place of the recorded one. False on a disk without birth times, where nobody can tell. */
export function isAnotherFolder({ birthtime }: FolderRow, { identity }: FolderLook): boolean {
  return birthtime !== null && birthtime !== 0 && ![0, birthtime].includes(identity.birthtime)
}

/** Returns a function that says whether a lost picture has appeared elsewhere, as a file of the same size and time that uses no
 * image yet. Each such file stands for one lost picture. `taken`: the files that stand for one already. `lacking`: folders whose
 * records are not up to date; `found` holds what this scan saw there. */
export function foundElsewhere(
  { files }: Pick<Synced, 'files'>,
  taken: Set<string>,
  lacking: ReadonlySet<number>,
  found: readonly FileRow[] = [],
): (lost: FileRow) => boolean {
  const foundBySize = Map.groupBy(found, ({ size }) => size)
  // The candidates of a size are read once, because there may be very many.
  const bySize = new Map<number, Map<number, FileRow[]>>()
  const read = (size: number) => {
    const open = files.openOfSize(size).filter(({ folder }) => !lacking.has(folder))
    const byTime = Map.groupBy([...open, ...(foundBySize.get(size) ?? [])], ({ mtime }) => mtime)
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
