import { join } from 'node:path'
import type { Records } from '../synced/synced.ts'
import type { FileKey } from '../synced/tables/files.ts'
import type { Location } from '../synced/tables/history.ts'
import type { ImageRow } from '../synced/tables/images.ts'
import { because, type Reason } from '../words/reasons.ts'
import { locationOf } from './versions.ts'

/* One rule says whether a picture has moved: a file with the bytes of its image is the picture. While no such file was sent, a
 * file of the same size that was not read yet may be the picture. By the same rule the hold does not count an image whose
 * picture has moved or may have moved (`losesBytes`). */

/** Where a picture lies now. `told`: its path as messages name it, which in another mirror is the whole path. */
interface NewPlace extends Location {
  told: string
}

/** Where the picture of an image in escrow lies now, even when it was not sent from there yet. Null: nowhere. */
export function movedTo(synced: Records, image: ImageRow): NewPlace | null {
  if (synced.escrow.of(image.id)?.reason !== 'deleted') return null
  const sent = synced.files.withBytes(image)
  if (sent) return placeOf(synced, image, sent)
  const waits = waitingMove(synced, image)
  return waits?.isRead ? waits : null
}

/** The file that waits for its upload and is this image's picture (`isRead`), or may be it. Until then the image stays. */
export function waitingMove(synced: Records, image: ImageRow): (NewPlace & { isRead: boolean }) | null {
  const open = synced.files.openLike(image)
  if (!open || (open.hash === null && synced.files.withBytes(image))) return null
  return { ...placeOf(synced, image, open), isRead: open.hash !== null }
}

function placeOf(synced: Records, { id }: ImageRow, file: FileKey): NewPlace {
  const place = locationOf(synced, file)
  const from = synced.escrow.of(id)?.mirror ?? place.mirror
  const folder = from === place.mirror ? '' : synced.mirrors.byId(place.mirror)!.folder
  return { ...place, told: join(folder, place.path) }
}

/** The reason that says where the picture of an image in escrow lies now, or perhaps lies. Null: nowhere. */
export function moveOf(synced: Records, image: ImageRow): Reason | null {
  const moved = movedTo(synced, image)
  if (moved) return because('picture_moved', { path: moved.told })
  const perhaps = synced.escrow.of(image.id)?.reason === 'deleted' ? waitingMove(synced, image) : null
  return perhaps && because('may_have_moved', { path: perhaps.told })
}
