import { folderAbove, fullPath, isAtOrBelow, nameOf } from '../../sync/tree-path.ts'
import type { GoneSummary, TreeSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { inWords } from '../../words/reasons.ts'
import { type Explanation, timeOf } from './explanation.ts'
import { wasFolder } from './place.ts'
import type { Whereabouts } from './whereabouts.ts'

export interface Known {
  file: FileRow | undefined
  isFolder: boolean
  image: ImageRow | undefined
  given: EscrowRow[]
  failure: Explanation['failure']
  history: ReturnType<Synced['history']['of']>
}

export const NOTHING: Known = {
  file: undefined,
  isFolder: false,
  image: undefined,
  given: [],
  failure: null,
  history: [],
}

/** What is recorded of a path as of a picture's, and of what became of it. */
export function recordsOf(synced: Synced, { id }: MirrorRow, path: string): Known {
  const above = path === '' ? undefined : synced.folders.at(id, folderAbove(path))
  const self = synced.folders.at(id, path)
  const file = above && synced.files.at({ folder: above.id, name: nameOf(path) })
  const failure = above ? synced.failures.of(above.id, nameOf(path)) : undefined
  return {
    file,
    isFolder: self !== undefined,
    image: file?.image == null ? undefined : synced.images.byId(file.image),
    given: synced.escrow.atPath(id, path),
    failure: failure
      ? {
          code: failure.code,
          message: inWords(failure.message),
          attempts: failure.attempts,
          next_attempt_at: failure.next_attempt_at === null ? null : timeOf(failure.next_attempt_at),
        }
      : null,
    history: synced.history.of({ mirror: id, path }),
  }
}

interface Folder {
  counts: TreeSummary | null
  gone: GoneSummary | null
}

export const NO_FOLDER: Folder = { counts: null, gone: null }

/** What is known of a path as of a folder: one that is there, or was. */
export function folderOf(
  synced: Synced,
  { id }: MirrorRow,
  path: string,
  where: Whereabouts,
  { file, isFolder }: Known,
): Folder {
  const isThere = where.kind === 'folder'
  const was = where.kind === 'absent' && !file && (isFolder || wasFolder(synced, id, path))
  if (!isThere && !was) return NO_FOLDER
  const counts = synced.summaries.below(id, path)
  const { gone: _gone, kept: _kept, hidden: _hidden, ...others } = counts.states
  // Until a look has found that it is gone, its pictures are recorded as they were.
  const isSeen = Object.keys(others).length === 0
  return { counts, gone: was && isSeen ? synced.summaries.goneBelow(id, path) : null }
}

/** Why what holds a path is in doubt, or null. */
export function doubtOf(synced: Synced, row: MirrorRow, path: string): string | null {
  if (row.guard_code === 'ROOT') return row.guard && inWords(row.guard)
  const lies = synced.folders.unknown(row.id).find(doubtful => isAtOrBelow(path, doubtful.path))
  return lies ? `${fullPath(row.folder, lies.path)}: ${inWords(lies.unknown)}` : null
}
