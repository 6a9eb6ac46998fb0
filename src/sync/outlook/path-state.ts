import { moveOf } from '../../records/moves.ts'
import type { TreeSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FailureRow } from '../../synced/tables/failures.ts'
import type { FileRow, FileState } from '../../synced/tables/files.ts'
import type { HistoryEvent, HistoryRow } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import { albumName } from '../album.ts'
import { planFolder } from '../plan.ts'
import type { MirrorLocation, OnDisk } from '../scan/index.ts'
import { fileAt, folderAbove, fullPath, isAtOrBelow, nameOf } from '../tree-path.ts'
import type { GoneFolder } from './gone-folder.ts'

/**
 * The state of a path: the state of its record, or one of these.
 * gone_on_host: it would be synced or linked, but an audit found its image gone from the host.
 * unseen: it lies on the disk, and no scan has seen it yet.
 * absent: it does not lie on the disk, and has no record.
 * left_out: it lies on the disk, and is not mirrored.
 * unknown: it can't be looked at, or it is in doubt.
 * folder: it is a folder that is mirrored.
 */
export type PathState = FileState | 'gone_on_host' | 'unseen' | 'absent' | 'left_out' | 'unknown' | 'folder'

/** What is recorded of a path. */
export interface Recorded {
  file: FileRow | undefined
  isFolder: boolean
  image: ImageRow | undefined
  /** Whether the file is synced or linked to an image that an audit found gone from the host. */
  goneOnHost: boolean
  /** The path of the album that `image` lies in; '' is the root. */
  album: string
  /** That the picture moved, or perhaps moved: from this path when it is gone, and to this path when it is new. */
  move: Reason | null
  escrow: EscrowRow[]
  inDoubt: OpenUpload[]
  failure: FailureRow | undefined
  history: HistoryRow[]
}

/**
 * What `outlook` has found out about a path. `isRenamed`: the path is missing, and may have got a name that is not valid
 * UTF-8.
 */
export interface Subject {
  location: MirrorLocation
  onDisk: OnDisk
  recorded: Recorded
  counts: TreeSummary | null
  gone: GoneFolder | null
  isRenamed: boolean
}

const NOTHING: Recorded = {
  file: undefined,
  isFolder: false,
  image: undefined,
  goneOnHost: false,
  album: '',
  move: null,
  escrow: [],
  inDoubt: [],
  failure: undefined,
  history: [],
}

/**
 * The state in which people see a file. A picture that failed and is tried again is failed until the new try has ended, as
 * in the counts of the summaries.
 */
export function shownState({ failures }: Pick<Synced, 'failures'>, file: FileRow): FileState {
  return file.state === 'pending' && failures.ofUpload(file) ? 'failed' : file.state
}

/** What is recorded of a path. `row`: of the path's mirror, if it is recorded. */
export function recordsOf(synced: Synced, row: MirrorRow | undefined, path: string): Recorded {
  if (!row) return NOTHING
  const { id } = row
  const above = path === '' ? undefined : synced.folders.at(id, folderAbove(path))
  const scanned = fileAt(synced, id, path)
  const file = scanned && { ...scanned, state: shownState(synced, scanned) }
  const image = file?.image == null ? undefined : synced.images.byId(file.image)
  return {
    file,
    isFolder: synced.folders.at(id, path) !== undefined,
    image,
    goneOnHost:
      image !== undefined &&
      (file?.state === 'synced' || file?.state === 'linked') &&
      synced.audit.has('gone', image.remote_id),
    album: albumName(synced, image?.album ?? null),
    move: scanned ? moveAt(synced, scanned, image) : null,
    escrow: synced.escrow.atPath(id, path),
    inDoubt: above ? synced.journal.openOnFile({ folder: above.id, name: nameOf(path) }) : [],
    failure: above ? synced.failures.of(above.id, nameOf(path)) : undefined,
    history: synced.history.of({ mirror: id, path }),
  }
}

function moveAt(synced: Synced, file: FileRow, image: ImageRow | undefined): Reason | null {
  if (image) return file.state === 'gone' ? moveOf(synced, image) : null
  return file.state === 'pending' ? cameFrom(synced, file) : null
}

/** From where a new picture moved, or perhaps moved, or null. Once it was read, its bytes tell. */
export function cameFrom(synced: Pick<Synced, 'escrow' | 'summaries'>, file: FileRow): Reason | null {
  const { hash, name } = file
  const path = hash === null ? synced.summaries.movedFrom(file) : synced.escrow.pathOfBytes({ hash, name })
  return path === undefined ? null : because(hash === null ? 'perhaps_moved_from' : 'moved_from', { path })
}

/** Why a path is in doubt, because its root or a folder above it is in doubt; or null. */
export function doubtOf(synced: Synced, row: MirrorRow, path: string): Reason | null {
  if (row.guard_code === 'ROOT') return row.guard
  const folder = synced.folders.unknown(row.id).find(doubtful => isAtOrBelow(path, doubtful.path))
  return folder ? because('at_path', { path: fullPath(row.folder, folder.path), why: folder.unknown }) : null
}

export function stateOf(subject: Subject): [PathState, Reason] {
  const { onDisk, recorded } = subject
  const { file } = recorded
  switch (onDisk.kind) {
    case 'unknown':
      return ['unknown', onDisk.why]
    case 'misnamed':
      return ['failed', onDisk.reason]
    case 'left_out':
      return [file?.state ?? 'left_out', onDisk.reason]
    case 'folder':
      return ['folder', because('folder_mirrored')]
    case 'picture':
      if (!file) return ['unseen', because('not_scanned')]
      return [recorded.goneOnHost ? 'gone_on_host' : file.state, withChange(file, subject)]
    case 'absent':
      return stateOfAbsent(subject)
  }
}

function stateOfAbsent(subject: Subject): [PathState, Reason] {
  const { recorded, gone, isRenamed } = subject
  const { file, history, inDoubt, isFolder } = recorded
  if (isRenamed && (file ? file.state === 'hidden' : isFolder)) return ['unknown', because('perhaps_renamed')]
  if (file) {
    const left = history.findLast(({ event }) => event === 'left_out')?.detail
    const isUnknown = file.state === 'hidden' && left != null && codeOf(left) === 'perhaps_renamed'
    return [isUnknown ? 'unknown' : file.state, withChange(file, subject)]
  }
  if (inDoubt.length > 0) return ['uncertain', because('gone_uncertain')]
  const last = history.at(-1)
  if (last) return ['absent', whatBecame(last)]
  return ['absent', gone || isFolder ? because('folder_gone', gone) : because('not_known')]
}

function whatBecame({ event, detail }: HistoryRow): Reason {
  if (!detail) return because('last_event', { event })
  return event === 'deleted' ? because('image_deleted', { why: detail }) : detail
}

/** Why a file is in its state. When the file has changed since the last scan, the answer says this too. */
function withChange(file: FileRow, { location, onDisk, recorded, isRenamed }: Subject): Reason {
  const seen = onDisk.kind === 'picture' ? [onDisk.look] : []
  const problem = { name: '', code: 'NAME_NOT_UTF8', message: because('name_not_utf8') } as const
  const look = { files: seen, aside: [], ignored: [], problems: isRenamed ? [problem] : [] }
  // A record has the ctime 0 when the next scan is to read the picture's bytes. This does not mean that the file has
  // changed.
  const record = { ...file, ctime: file.ctime || (seen[0]?.ctime ?? 0) }
  const { deletions } = location.mirror
  const [change] = planFolder(file.folder, [record], look, { deletions, prunes: () => false }, 0)
  const before = whyInState(file, recorded)
  return change && codeOf(change.reason) !== 'new'
    ? because('since_then', { before, now: change.reason })
    : before
}

function whyInState(file: FileRow, { goneOnHost, history, failure, album, move }: Recorded): Reason {
  if (goneOnHost) return because('image_not_found')
  const last = (event: HistoryEvent) => history.findLast(row => row.event === event)?.detail
  switch (file.state) {
    case 'synced':
      return file.flat > 0 ? because('in_sync_flat', { album }) : because('in_sync')
    case 'pending': {
      const why = whyPending(file, history)
      return codeOf(why) === 'new' && move ? move : why
    }
    case 'linked':
      return because('linked_by_name')
    case 'failed':
    case 'uncertain':
      return failure
        ? because('upload_failed', { why: failure.message, code: failure.code })
        : because('cause_not_recorded')
    case 'gone':
      return move ?? last('gone') ?? because('gone')
    case 'kept':
      return last('kept') ?? because('image_kept')
    case 'hidden':
      return last('left_out') ?? because('left_out')
  }
}

/** When one of these events follows a change in the history, the change needs no upload any more. */
const DONE: ReadonlySet<HistoryEvent> = new Set(['uploaded', 'adopted', 'linked', 'unchanged', 'arrived'])

/** Why a file is to be uploaded or compared. */
export function whyPending({ image }: Pick<FileRow, 'image'>, history: readonly HistoryRow[]): Reason {
  const done = history.findLastIndex(({ event }) => DONE.has(event))
  const since = history.slice(done + 1).findLast(({ event }) => event === 'changed' || event === 'lost')
  return since?.detail ?? because(image === null ? 'new' : 'touched')
}
