import type { FileRow } from '../synced/files.ts'
import type { ImageRow } from '../synced/images.ts'
import type { Synced } from '../synced/synced.ts'

/** An image was deleted, or is not on the host any more. Belongs into a commit. */
export function forgetImage(synced: Synced, image: ImageRow, now: number): void {
  synced.deleted.put(image.remote_id, now)
  loseImage(synced, image, now)
}

/** An image proved to be of other bytes: it is not ours. Belongs into a commit. */
export function refuteImage(synced: Synced, image: ImageRow, now: number): void {
  synced.refuted.put(image.remote_id, image.hash)
  loseImage(synced, image, now)
}

const DONE_WITH: ReadonlySet<FileRow['state']> = new Set(['gone', 'kept'])
const SHOWN: ReadonlySet<FileRow['state']> = new Set(['synced', 'linked'])

/** Nothing stands on it any more: a picture that did is sent again. */
function loseImage(synced: Synced, image: ImageRow, now: number): void {
  const { files, folders, journal, escrow, images } = synced
  for (const file of files.onImage(image.id)) {
    if (DONE_WITH.has(file.state)) files.remove(file)
    else if (SHOWN.has(file.state))
      files.put({ ...file, image: null, state: 'pending', since: now, hash: null })
    else files.put({ ...file, image: null })
    folders.removeIfEmpty(file.folder)
  }
  journal.forgetImage(image.id)
  escrow.takeBack(image.id)
  images.remove(image.id)
}
