import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { noteDeleted } from './picture-history.ts'

/** An image was deleted, or is not on the host any more. Belongs into a commit. */
export function forgetImage(synced: Synced, image: ImageRow, now: number): void {
  synced.deleted.put(image.remote_id, now)
  noteDeleted(synced, image, now)
  loseImage(synced, image, now, 'its image is not on the host any more')
}

/** An image proved to be of other bytes: it is not ours. Belongs into a commit. */
export function refuteImage(synced: Synced, image: ImageRow, now: number): void {
  synced.refuted.put(image.remote_id, image.hash)
  loseImage(synced, image, now, "the image that was linked to it has other bytes: it is another's")
}

const DONE_WITH: ReadonlySet<FileRow['state']> = new Set(['gone', 'kept'])
const SHOWN: ReadonlySet<FileRow['state']> = new Set(['synced', 'linked'])

/** Nothing stands on it any more: a picture that did is sent again. */
function loseImage(synced: Synced, image: ImageRow, now: number, detail: string): void {
  const { files, folders, history, journal, escrow, images } = synced
  for (const file of files.onImage(image.id)) {
    if (DONE_WITH.has(file.state)) files.remove(file)
    else if (SHOWN.has(file.state)) {
      history.ofFile(file, { at: now, event: 'lost', detail })
      files.put({ ...file, image: null, state: 'pending', since: now, hash: null })
    } else files.put({ ...file, image: null })
    folders.removeIfEmpty(file.folder)
  }
  journal.forgetImage(image.id)
  escrow.takeBack(image.id)
  images.remove(image.id)
}
