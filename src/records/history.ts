import type { Synced, Tx } from '../synced/synced.ts'
import type { FileRow, FileState } from '../synced/tables/files.ts'
import type { HistoryEvent, Location } from '../synced/tables/history.ts'
import type { ImageRow } from '../synced/tables/images.ts'
import { because, codeOf, type Reason, WHY_IN_ESCROW } from '../words/reasons.ts'
import { type Deletions, isKept } from './escrow.ts'
import { locationOf } from './versions.ts'

/** A scan found a file changed, missing or left out: its state is `state` now. */
export function noteChange(
  { history }: Tx,
  location: Location,
  state: FileState,
  reason: Reason,
  now: number,
): void {
  const event = CHANGE_EVENT[state] ?? 'changed'
  // A program that saves a picture in place empties the file first. That is one change, and needs no row of its own.
  if (event === 'changed')
    history.takeBack({ ...location, detail: because('left_out'), since: now - SAVE_MS })
  // The history gets no row for a new picture, because its upload will write one. It gets no row for a file that was only
  // touched.
  const code = codeOf(reason)
  if (event === 'changed' && (code === 'new' || code === 'touched')) return
  const detail = code === 'gone_unsent' && wasLost(history, location) ? because('gone_after_lost') : reason
  history.add(location, { at: now, event, detail })
}

/** Whether the last image of this path's picture went from the host without albumd. */
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

/** A picture uses an image from now on. `isNew`: the image was recorded just now. */
export function noteImage(
  tx: Tx,
  { file, mirror, path, deletions }: Location & { file: FileRow; deletions: Deletions },
  image: ImageRow,
  isNew: boolean,
  now: number,
): void {
  const { history, escrow } = tx
  const location = { mirror, path }
  // The history gets no row for a file that was only touched and still has its old bytes.
  if (!isNew && file.image === image.id && history.last(location) !== 'changed') return
  const replaced = file.image !== null && file.image !== image.id
  const from = isNew && !replaced ? escrow.pathOfBytes(image) : undefined
  const stays = deletions === 'keep' || (file.image !== null && isKept(tx, file.image))
  const detail = replaced
    ? because(stays ? 'old_image_stays' : 'old_image_goes')
    : from === undefined
      ? null
      : because('moved_from', { path: from })
  history.add(location, {
    at: now,
    event: isNew ? IMAGE_EVENT[image.proof] : 'unchanged',
    detail: isNew ? detail : detail ? because('image_used_again', { why: detail }) : because('bytes_on_host'),
    since: file.since,
  })
}

/**
 * Where the picture of an image in escrow lies now, also when it is not sent from there yet. Null: it has not moved.
 */
export function movedToLocation(synced: MoveRecords, image: ImageRow): Location | null {
  if (synced.escrow.of(image.id)?.reason !== 'deleted') return null
  const sent = sentFrom(synced, image)
  if (sent) return locationOf(synced, sent)
  const waits = waitingMove(synced, image)
  return waits?.isRead ? waits : null
}

/** What is asked about a move. */
type MoveRecords = Pick<Synced, 'escrow' | 'files' | 'folders' | 'images' | 'history'>

/**
 * A file that was sent with the image's bytes since its picture is gone, or that came back since and uses its own image
 * again. A copy that was on the host before is no move.
 */
function sentFrom(synced: MoveRecords, { id, hash, name }: ImageRow): FileRow | undefined {
  const { escrow, files, images, history } = synced
  const entry = escrow.of(id)
  if (!entry) return undefined
  const { since } = entry
  const cameBack = (file: FileRow) => {
    const last = history.of(locationOf(synced, file)).at(-1)
    return file.state === 'synced' && last?.event === 'unchanged' && last.at >= since
  }
  const others = () => images.byHash(hash).filter(image => image.id !== id)
  return (
    files.withBytes({ hash, name, since }) ??
    others()
      .flatMap(image => files.onImage(image.id))
      .find(cameBack)
  )
}

/** The path, below its mirror, of `movedToLocation`. */
export function movedTo(synced: MoveRecords, image: ImageRow): string | null {
  return movedToLocation(synced, image)?.path ?? null
}

/**
 * Where a file lies that waits for its upload, and is the picture of this image or may be. `isRead`: whether the file has
 * the image's bytes; else only its size is the same. Null: there is no such file, or the picture was sent from another place
 * already.
 */
export function waitingMove(synced: MoveRecords, image: ImageRow): (Location & { isRead: boolean }) | null {
  const open = sentFrom(synced, image) ? undefined : synced.files.openLike(image)
  return open ? { ...locationOf(synced, open), isRead: open.hash !== null } : null
}

/**
 * Where the picture of an image in escrow lies now, or perhaps lies. A file that is not read yet counts only when the hold
 * takes it for the moved picture too, because many pictures have the same size by chance. Null: nothing tells of a move.
 */
export function moveOf(synced: MoveRecords, image: ImageRow): Reason | null {
  const path = movedTo(synced, image)
  if (path !== null) return because('picture_moved', { path })
  const isDeleted = synced.escrow.of(image.id)?.reason === 'deleted'
  const perhaps = isDeleted && !synced.escrow.isCounted(image.id) ? waitingMove(synced, image) : null
  return perhaps && because('may_have_moved', { path: perhaps.path })
}

export function noteDeleted(tx: Tx, image: ImageRow, now: number): void {
  const entry = tx.escrow.of(image.id)
  if (!entry) return
  const path = movedTo(tx, image)
  const detail = path === null ? WHY_IN_ESCROW[entry.reason] : because('picture_moved', { path })
  tx.history.add(entry, { at: now, event: 'deleted', detail })
}
