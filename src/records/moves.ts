import type { Records } from '../synced/synced.ts'
import type { Location } from '../synced/tables/history.ts'
import type { ImageRow } from '../synced/tables/images.ts'
import { because, type Reason } from '../words/reasons.ts'
import { locationOf } from './versions.ts'

/*
 * One rule says whether a picture has moved: a file with the bytes of its image is the picture. While none is sent, a file
 * of the same size that is not read yet may be the picture. By the same rule the hold counts no image whose picture has moved
 * or may have moved (`losesBytes`).
 */

type MoveRecords = Records

/** Where the picture of an image in escrow lies now, also when it is not sent from there yet; or null. */
export function movedTo(synced: MoveRecords, image: ImageRow): Location | null {
  if (synced.escrow.of(image.id)?.reason !== 'deleted') return null
  const sent = synced.files.withBytes(image)
  if (sent) return locationOf(synced, sent)
  const waits = waitingMove(synced, image)
  return waits?.isRead ? waits : null
}

/** Where a file waits for its upload that is the picture of this image (`isRead`), or may be; or null. Until it is sent, or
 * read and found to be another picture, the image is not deleted. */
export function waitingMove(synced: Records, image: ImageRow): (Location & { isRead: boolean }) | null {
  const open = synced.files.openLike(image)
  if (!open || (open.hash === null && synced.files.withBytes(image))) return null
  return { ...locationOf(synced, open), isRead: open.hash !== null }
}

/** Where the picture of an image in escrow lies now, or perhaps lies; or null. */
export function moveOf(synced: MoveRecords, image: ImageRow): Reason | null {
  const moved = movedTo(synced, image)
  if (moved) return because('picture_moved', { path: moved.path })
  const perhaps = synced.escrow.of(image.id)?.reason === 'deleted' ? waitingMove(synced, image) : null
  return perhaps && because('may_have_moved', { path: perhaps.path })
}
