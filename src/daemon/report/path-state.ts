import type { Deletions } from '../../records/escrow.ts'
import { moveOf } from '../../records/moves.ts'
import { albumName } from '../../sync/album.ts'
import { planFolder } from '../../sync/plan.ts'
import type { OnDisk } from '../../sync/scan/index.ts'
import { fileAt, folderAbove, nameOf } from '../../sync/tree-path.ts'
import type { GoneSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FailureRow } from '../../synced/tables/failures.ts'
import type { FileRow, FileState } from '../../synced/tables/files.ts'
import type { HistoryEvent, HistoryRow } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import { isFolder, shownState } from './mirrored-pictures.ts'

/** The state of a path: the state of its record, or one of these.
 * gone_on_host: it would be synced or linked, but an audit found its image gone from the host.
 * unseen: it lies on the disk, and no scan has seen it yet.
 * absent: it does not lie on the disk, and has no record.
 * left_out: it lies on the disk, and is not mirrored.
 * unknown: it can't be looked at, or it is in doubt.
 * folder: it is a folder that is mirrored. */
export type PathState = FileState | 'gone_on_host' | 'unseen' | 'absent' | 'left_out' | 'unknown' | 'folder'

export interface Recorded {
  file: FileRow | undefined
  isFolder: boolean
  image: ImageRow | undefined
  /** Whether the file is synced or linked, and an audit found its image gone from the host. */
  goneOnHost: boolean
  /** The path of the album of `image`; '' is the root. */
  album: string
  move: Reason | null
  escrow: EscrowRow[]
  inDoubt: OpenUpload[]
  failure: FailureRow | undefined
  history: HistoryRow[]
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

/** What is recorded of a path. `row`: the mirror's row, if the mirror is recorded. */
export function recordsOf(synced: Synced, row: MirrorRow | undefined, path: string): Recorded {
  if (!row) return NOTHING
  const { id } = row
  const above = path === '' ? undefined : synced.folders.at(id, folderAbove(path))
  const key = above && { folder: above.id, name: nameOf(path) }
  const scanned = fileAt(synced, id, path)
  const file = scanned && { ...scanned, state: shownState(synced, scanned) }
  const image = file?.image == null ? undefined : synced.images.byId(file.image)
  const isUsed = file?.state === 'synced' || file?.state === 'linked'
  return {
    file,
    isFolder: isFolder(synced, id, path),
    image,
    goneOnHost: image !== undefined && isUsed && synced.audit.has('gone', image.remote_id),
    album: albumName(synced, image?.album ?? null),
    move: image && file?.state === 'gone' ? moveOf(synced, image) : null,
    escrow: synced.escrow.atPath(id, path),
    inDoubt: key ? synced.journal.openOnFile(key) : [],
    failure: key && synced.failures.of(key.folder, key.name),
    history: synced.history.of({ mirror: id, path }),
  }
}

/** The state of a path and its reason. `gone`: what became of the images of a folder that is gone. */
export function stateOf(
  onDisk: OnDisk,
  recorded: Recorded,
  gone: GoneSummary | null,
  deletions: Deletions,
): [PathState, Reason] {
  const { file } = recorded
  switch (onDisk.kind) {
    case 'unknown':
      return ['unknown', onDisk.why]
    case 'left_out':
      return [isSent(recorded) ? file!.state : 'left_out', onDisk.reason]
    case 'folder':
      return ['folder', because('folder_mirrored')]
    case 'picture':
      if (!file) return ['unseen', because('not_scanned')]
      return [
        recorded.goneOnHost ? 'gone_on_host' : file.state,
        withChange(file, onDisk, recorded, deletions),
      ]
    case 'absent': {
      const { inDoubt, failure, history, isFolder } = recorded
      if (file) return [file.state, withChange(file, onDisk, recorded, deletions)]
      if (inDoubt.length > 0) return ['uncertain', because('gone_uncertain')]
      // Only the scan finds names that are not UTF-8, and records them as failures.
      if (failure) return ['unknown', failure.message]
      const last = history.at(-1)
      if (last) return ['absent', whatBecame(last)]
      return ['absent', isFolder ? because('folder_gone', gone) : because('not_known')]
    }
  }
}

/** Whether an image of the file is on the host, or perhaps. */
function isSent({ file, inDoubt }: Recorded): boolean {
  return file !== undefined && (file.image !== null || inDoubt.length > 0)
}

function whatBecame({ event, detail }: HistoryRow): Reason {
  if (!detail) return because('last_event', { event })
  return event === 'deleted' ? because('image_deleted', { why: detail }) : detail
}

/** Why a file is in its state. Says too when the file has changed since the last scan. */
function withChange(file: FileRow, onDisk: OnDisk, recorded: Recorded, deletions: Deletions): Reason {
  const seen = onDisk.kind === 'picture' ? [onDisk.look] : []
  const look = { files: seen, aside: [], ignored: [], problems: [] }
  // The ctime 0 in a record means that the next scan reads the bytes, not that the file changed.
  const record = { ...file, ctime: file.ctime || (seen[0]?.ctime ?? 0) }
  const [change] = planFolder(file.folder, [record], look, { deletions, prunes: () => false })
  const before = whyInState(file, recorded)
  // A hidden picture may be absent, which is no news.
  const isNews = file.state !== 'hidden' || onDisk.kind !== 'absent'
  return isNews && change && codeOf(change.reason) !== 'new'
    ? because('since_then', { before, now: change.reason })
    : before
}

function whyInState(file: FileRow, { goneOnHost, history, failure, album, move }: Recorded): Reason {
  if (goneOnHost) return because('image_not_found')
  const last = (event: HistoryEvent) => history.findLast(row => row.event === event)?.detail
  switch (file.state) {
    case 'synced':
      return file.flat > 0 ? because('in_sync_flat', { album }) : because('in_sync')
    case 'pending':
      return whyPending(file, history)
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

/** After these events in its history, a change needs no upload any more. */
const DONE: ReadonlySet<HistoryEvent> = new Set(['uploaded', 'adopted', 'linked', 'unchanged', 'arrived'])

function whyPending({ image }: Pick<FileRow, 'image'>, history: readonly HistoryRow[]): Reason {
  const done = history.findLastIndex(({ event }) => DONE.has(event))
  const since = history.slice(done + 1).findLast(({ event }) => event === 'changed' || event === 'lost')
  return since?.detail ?? because(image === null ? 'new' : 'touched')
}
