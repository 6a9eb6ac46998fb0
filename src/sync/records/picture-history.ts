import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { HistoryEvent } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { type Deletions, type FileChange, NEW, TOUCHED } from '../plan.ts'

/** What the scan found of a path. Belongs into the commit that records it. `now`: milliseconds since 1970. */
export function noteChange(
  { history }: Synced,
  place: { mirror: number; path: string },
  { kind, file, reason }: FileChange,
  now: number,
): void {
  // One that is new has its note once it is known what became of it. A chmod of a whole tree is not worth any.
  if (kind === 'pending') {
    if (reason !== NEW && reason !== TOUCHED)
      history.add(place, { at: now, event: 'changed', detail: reason })
    return
  }
  const unsent = file.image === null && kind === 'gone'
  const detail = unsent ? `${reason}, before it was on the host` : reason
  history.add(place, { at: now, event: EVENT_OF[file.state] ?? 'gone', detail })
}

const EVENT_OF: Partial<Record<FileChange['file']['state'], HistoryEvent>> = {
  hidden: 'left_out',
  kept: 'kept',
}

const HOW: Record<ImageRow['proof'], HistoryEvent> = {
  uploaded: 'uploaded',
  compared: 'adopted',
  none: 'linked',
}

/** A file stands on an image: one that is new to the records, or not. Belongs into the commit that records it. */
export function noteStanding(
  { history, escrow }: Synced,
  job: { file: FileRow; mirror: number; path: string; deletions: Deletions },
  image: ImageRow,
  isNew: boolean,
  now: number,
): void {
  const { file, mirror, path, deletions } = job
  const place = { mirror, path }
  // A file that was only touched, and has the bytes that it had.
  if (!isNew && file.image === image.id && history.last(place) !== 'changed') return
  const replaced = file.image !== null && file.image !== image.id
  const from = isNew && !replaced ? escrow.pathOfBytes(image.hash) : null
  const detail = replaced
    ? `its old image ${deletions === 'propagate' ? 'is to be deleted' : 'stays'}`
    : from === null
      ? null
      : `moved from ${from}`
  history.add(place, {
    at: now,
    event: isNew ? HOW[image.proof] : 'unchanged',
    detail: isNew ? detail : (detail ?? 'its bytes are on the host'),
    since: file.since,
  })
}

const WHY: Record<EscrowRow['reason'], string> = {
  deleted: 'the picture is gone from the disk',
  superseded: 'it was of an older version',
  ignored: 'a rule hides the picture',
}

/** An image that was to be given up is gone from the host. Before its records are forgotten. */
export function noteDeleted({ history, escrow, files, folders }: Synced, image: ImageRow, now: number): void {
  const given = escrow.of(image.id)
  if (!given) return
  const other = given.reason === 'deleted' ? files.withBytes(image.hash) : undefined
  const folder = other && folders.byId(other.folder)
  const detail =
    other && folder
      ? `the picture moved to ${folder.path === '' ? '' : `${folder.path}/`}${other.name}`
      : WHY[given.reason]
  history.add(given, { at: now, event: 'deleted', detail })
}
