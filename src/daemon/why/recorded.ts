import { folderAbove, fullPath, isAtOrBelow, nameOf } from '../../sync/tree-path.ts'
import type { GoneSummary, TreeSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { HistoryEvent, HistoryRow } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf, inWords, type Reason, type ReasonCode } from '../../words/reasons.ts'
import { isoTime } from '../report/amounts.ts'
import type { PastEvent } from './explanation.ts'
import { wasFolder } from './location.ts'
import type { OnDisk } from './on-disk.ts'

/** What is recorded of a path. */
export interface Recorded {
  file: FileRow | undefined
  isFolder: boolean
  image: ImageRow | undefined
  escrow: EscrowRow[]
  failure: ReturnType<Synced['failures']['of']>
  history: HistoryRow[]
}

export const NOTHING: Recorded = {
  file: undefined,
  isFolder: false,
  image: undefined,
  escrow: [],
  failure: undefined,
  history: [],
}

export function recordsOf(synced: Synced, { id }: MirrorRow, path: string): Recorded {
  const above = path === '' ? undefined : synced.folders.at(id, folderAbove(path))
  const file = above && synced.files.at({ folder: above.id, name: nameOf(path) })
  return {
    file,
    isFolder: synced.folders.at(id, path) !== undefined,
    image: file?.image == null ? undefined : synced.images.byId(file.image),
    escrow: synced.escrow.atPath(id, path),
    failure: above && synced.failures.of(above.id, nameOf(path)),
    history: synced.history.of({ mirror: id, path }),
  }
}

interface FolderSummary {
  counts: TreeSummary | null
  gone: GoneSummary | null
}

export const NO_FOLDER: FolderSummary = { counts: null, gone: null }

/** What is recorded of the pictures below a path, when a folder is there or was there. */
export function folderOf(
  synced: Synced,
  { id }: MirrorRow,
  path: string,
  found: OnDisk,
  { file, isFolder }: Recorded,
): FolderSummary {
  const was = found.kind === 'absent' && !file && (isFolder || wasFolder(synced, id, path))
  if (found.kind !== 'folder' && !was) return NO_FOLDER
  const counts = synced.summaries.below(id, path)
  const { gone: _gone, kept: _kept, hidden: _hidden, ...others } = counts.states
  // The pictures of a folder that is gone keep their states until a scan has found that they are gone.
  const isScanned = Object.keys(others).length === 0
  return { counts, gone: was && isScanned ? synced.summaries.goneBelow(id, path) : null }
}

/** Why the mirror's root, or a folder at or above a path, is in doubt, or null. */
export function doubtOf(synced: Synced, row: MirrorRow, path: string): Reason | null {
  if (row.guard_code === 'ROOT') return row.guard
  const folder = synced.folders.unknown(row.id).find(doubtful => isAtOrBelow(path, doubtful.path))
  return folder ? because('at_path', { path: fullPath(row.folder, folder.path), why: folder.unknown }) : null
}

const UPLOADED: ReadonlySet<HistoryEvent> = new Set(['uploaded', 'adopted', 'linked', 'unchanged', 'arrived'])

/** Why a file is in its state: what went wrong, or the plan's reason, which the history keeps. */
export function reasonOf(file: FileRow, { history, failure }: Recorded): Reason {
  const last = (event: HistoryEvent, otherwise: ReasonCode & ('gone' | 'image_kept' | 'left_out')) =>
    history.findLast(row => row.event === event)?.detail ?? because(otherwise)
  switch (file.state) {
    case 'synced':
      return because('in_sync')
    case 'pending':
      return whyPending(file, history)
    case 'linked':
      return because('is_linked')
    case 'failed':
    case 'uncertain':
      return failure
        ? because('upload_failed', { why: failure.message, code: failure.code })
        : because('failure_not_recorded')
    case 'gone':
      return last('gone', 'gone')
    case 'kept':
      return last('kept', 'image_kept')
    case 'hidden':
      return last('left_out', 'left_out')
  }
}

function whyPending({ image }: FileRow, history: readonly HistoryRow[]): Reason {
  const before = history.findLastIndex(({ event }) => UPLOADED.has(event))
  const since = history.slice(before + 1).findLast(({ event }) => event === 'changed' || event === 'lost')
  return since?.detail ?? because(image === null ? 'new' : 'touched')
}

/** What became of a path that is gone from disk and records, or null when the history does not tell. */
export function whatBecame(history: readonly HistoryRow[]): Reason | null {
  const last = history.at(-1)
  if (!last) return null
  const { event, detail } = last
  return because('became', { deleted: event === 'deleted', event, why: detail })
}

const BYTES_KNOWN: ReadonlySet<string> = new Set(['uploaded', 'adopted', 'linked', 'unchanged'])
const WAITING: ReadonlySet<string> = new Set(['pending', 'failed'])

/** A path's history for people. A new picture has no note of when it was found; its later note holds this time. */
export function pastOf(rows: readonly HistoryRow[], file: FileRow | undefined): PastEvent[] {
  const past: (Omit<PastEvent, 'at'> & { at: number })[] = []
  let isNew = true
  for (const { at, event, detail, since } of rows) {
    if (event === 'changed') isNew = false
    if (BYTES_KNOWN.has(event)) {
      if (isNew && since !== null) past.push({ at: since, event: 'found', detail: null })
      isNew = false
    }
    if (event === 'gone') isNew = true
    const isInDoubt = detail !== null && codeOf(detail) === 'perhaps_renamed'
    past.push({ at, event: isInDoubt ? 'in_doubt' : event, detail: detail && inWords(detail) })
  }
  const found = file && WAITING.has(file.state) && file.image === null && isNew ? file.since : null
  if (found !== null) past.push({ at: found, event: 'found', detail: null })
  // The notes are in the order of what happened. When the clock was set back, their times are not, and the order stays.
  const inOrder = past.every((one, at) => one.event !== 'found' || at === 0 || past[at - 1]!.at <= one.at)
  const sorted = inOrder ? past : past.toSorted((a, b) => a.at - b.at)
  return sorted.map(one => ({ ...one, at: isoTime(one.at) }))
}
