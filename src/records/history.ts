import type { Tx } from '../synced/synced.ts'
import type { FileRow, FileState } from '../synced/tables/files.ts'
import type { HistoryEvent, Location } from '../synced/tables/history.ts'
import type { ImageRow } from '../synced/tables/images.ts'
import { because, codeOf, type Reason, WHY_IN_ESCROW } from '../words/reasons.ts'
import { type Deletions, isKept } from './escrow.ts'
import { movedTo } from './moves.ts'

/** Notes that a scan found a file changed, missing or left out. `state`: its state now. */
export function noteChange(
  { history }: Tx,
  location: Location,
  state: FileState,
  reason: Reason,
  now: number,
): void {
  const event = CHANGE_EVENT[state] ?? 'changed'
  // A program that saves a picture in place empties the file first. That counts as one change, so the row `left_out` is removed.
  if (event === 'changed')
    history.takeBack({ ...location, detail: because('left_out'), since: now - SAVE_MS })
  // A new picture gets no row, because its upload writes one. A file that was only touched gets none either.
  const code = codeOf(reason)
  if (event === 'changed' && (code === 'new' || code === 'touched')) return
  const detail = code === 'gone_unsent' && wasLost(history, location) ? because('gone_after_lost') : reason
  history.add(location, { at: now, event, detail })
}

/** Whether the last image of this path's picture left the host without albumd. */
function wasLost({ of }: Tx['history'], location: Location): boolean {
  return of(location).findLast(({ event }) => event === 'lost' || event === 'gone')?.event === 'lost'
}

/** For how long a file may be empty while a program saves it. */
const SAVE_MS = 60_000

const CHANGE_EVENT: Partial<Record<FileState, HistoryEvent>> = {
  hidden: 'left_out',
  kept: 'kept',
  gone: 'gone',
}

const IMAGE_EVENT: Record<ImageRow['proof'], HistoryEvent> = {
  uploaded: 'uploaded',
  compared: 'adopted',
  none: 'linked',
}

/** A picture uses an image from now on. `isNew`: the image was recorded just now. `note`: what is to be said of it first.
 * `hash`: the file's. */
export function noteImage(
  tx: Tx,
  { file, mirror, path, deletions }: Location & { file: FileRow; deletions: Deletions },
  image: ImageRow,
  { isNew, note, hash }: { isNew: boolean; note: Reason | null; hash: Buffer },
  now: number,
): void {
  const { history, escrow } = tx
  const location = { mirror, path }
  // A file that was only touched and still has its old bytes gets no row.
  if (!isNew && file.image === image.id && history.last(location) !== 'changed') return
  const replaced = file.image !== null && file.image !== image.id
  const from = isNew && !replaced ? escrow.pathOfBytes({ hash, name: image.name }) : undefined
  const stays = deletions === 'keep' || (file.image !== null && isKept(tx, file.image))
  const detail = replaced
    ? because(stays ? 'old_image_stays' : 'old_image_goes')
    : from === undefined
      ? null
      : because('moved_from', { path: from })
  history.add(location, {
    at: now,
    event: isNew ? IMAGE_EVENT[image.proof] : 'unchanged',
    detail: isNew
      ? (note ?? detail)
      : detail
        ? because('image_used_again', { why: detail })
        : because('bytes_on_host'),
  })
}

export function noteDeleted(tx: Tx, image: ImageRow, now: number): void {
  const entry = tx.escrow.of(image.id)
  if (!entry) return
  const moved = movedTo(tx, image)
  const detail = moved ? because('picture_moved', { path: moved.told }) : WHY_IN_ESCROW[entry.reason]
  tx.history.add(entry, { at: now, event: 'deleted', detail })
}
