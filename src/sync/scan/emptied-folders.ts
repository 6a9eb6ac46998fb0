import type { FolderLook } from '../../local/look.ts'
import type { FileChange } from '../../records/pictures.ts'
import type { Synced } from '../../synced/synced.ts'
import { type FileRow, textOf } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import { because } from '../../words/reasons.ts'
import { foldersAbove, fullPath, nameOf } from '../tree-path.ts'
import type { Doubt } from './doubts.ts'

/** A folder that loses all its pictures at once is in doubt when it had at least so many pictures. */
const MANY = 20

/** What was seen in a folder that lost pictures. */
interface LackingLook {
  folder: FolderRow
  digest: string | null
  look: FolderLook
  changes: FileChange[]
  /** The files of the lost pictures that may be on the host. */
  lost: FileRow[]
  /** Set where another folder is in the place of the recorded one; `lost` has pictures of the folders below too then. `isLike`:
   * it shows a picture just as it is recorded. `below`: the recorded folders in it. */
  other: { isLike: boolean; below: readonly FolderRow[] } | null
}

/** Folders that have lost all their many pictures at once, and those in whose place another folder lies, which lacks pictures
 * and shows others just as they are recorded. (One that shows none was made anew: grace and hold decide.) Their disk fails, a
 * backup was put there, or the pictures have moved. Once all was scanned, albumd knows whether their sizes and times have
 * appeared elsewhere. */
export class EmptiedFolders {
  readonly #synced: Synced
  readonly #waiting = new Map<string, LackingLook>()

  constructor(synced: Synced) {
    this.#synced = synced
  }

  any(): boolean {
    return this.#waiting.size > 0
  }

  /** Keeps what was seen in a folder until everything was scanned. False: the folder lacks too little. */
  defer(seen: LackingLook): boolean {
    const { folder, lost, other } = seen
    const lacks = other ? lost.length > 0 : isEmptied(seen)
    if (lacks) this.#waiting.set(folder.path, seen)
    else this.#waiting.delete(folder.path)
    return lacks
  }

  /** Whether the folder is missing, it or one above it, from an emptied folder that waits and may be in doubt. */
  misses(path: string): boolean {
    if (this.#waiting.size === 0) return false
    const line = [...foldersAbove(path), path]
    return line.some((above, at) => {
      const next = line[at + 1]
      const waiting = next === undefined ? undefined : this.#waiting.get(above)
      return waiting !== undefined && !waiting.look.folders.includes(nameOf(next!))
    })
  }

  /** The emptied folders, each with its doubt, or null where its pictures have moved. `root`: the mirror's folder. */
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
    const isElsewhere = foundElsewhere(this.#synced, taken, lacking, found)
    const isCopy = ({ other }: LackingLook) => {
      const seen = new Map(waiting.map(each => [each.folder.id, each]))
      const isLike = ({ id }: FolderRow) => seen.get(id)?.other?.isLike ?? this.#holdsKnown(id)
      return other !== null && (other.isLike || other.below.some(isLike))
    }
    return waiting.map(seen => {
      const { lost, folder } = seen
      const missing = lost.filter(file => !isElsewhere(file)).length
      if (missing < (isCopy(seen) ? 1 : isEmptied(seen) ? MANY : Number.POSITIVE_INFINITY))
        return { ...seen, doubt: null }
      const at = fullPath(root, folder.path)
      const doubt: Doubt = isEmptied(seen)
        ? {
            folder,
            code: 'FOLDER_EMPTIED',
            why: because('folder_emptied', { folder: at, pictures: lost.length }),
          }
        : { folder, code: 'FOLDER_OLDER', why: because('folder_older', { folder: at }) }
      return { ...seen, doubt }
    })
  }

  /** Whether a folder holds a picture as it was sent. Until its bytes are compared, its size and time say so. */
  #holdsKnown(folder: number): boolean {
    const { files, images } = this.#synced
    return files.ofFolder(folder).some(({ state, image, size, mtime }) => {
      if (state !== 'pending') return state === 'synced' || state === 'linked'
      const sent = image === null ? undefined : images.byId(image)
      return sent?.size === size && sent.mtime === mtime
    })
  }
}

function isEmptied({ look, lost }: LackingLook): boolean {
  return look.files.length === 0 && lost.length >= MANY
}

/** Whether another folder is in the place of the recorded one. Where a disk has no birth times, nobody can tell. */
export function isAnotherFolder({ birthtime }: FolderRow, { identity }: FolderLook): boolean {
  return birthtime !== null && birthtime !== 0 && ![0, birthtime].includes(identity.birthtime)
}

/** Returns a function that says whether a lost picture has come elsewhere: as a file of the same size and modification time
 * that uses no image yet. Each such file stands for one lost picture; `taken` are those that stand for one already. Records of
 * the folders `lacking` are not up to date, so `found` has what this scan saw in them. */
export function foundElsewhere(
  { files }: Pick<Synced, 'files'>,
  taken: Set<string>,
  lacking: ReadonlySet<number>,
  found: readonly FileRow[] = [],
): (lost: FileRow) => boolean {
  const foundBySize = Map.groupBy(found, ({ size }) => size)
  // The candidates are read once for each size, because there may be very many of one size.
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
