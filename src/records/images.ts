import type { Tx } from '../synced/synced.ts'
import type { ImageRow } from '../synced/tables/images.ts'
import { because, type Reason } from '../words/reasons.ts'
import { removeFile, writeFile } from './file-states.ts'

/** albumd deleted the image, or the host said that the image is gone when albumd asked for its deletion. */
export function deleted(tx: Tx, image: ImageRow, now: number): void {
  tx.deleted.put(image.remote_id, now)
  noteDeleted(tx, image, now)
  unrecord(tx, image, now, because('image_gone'))
}

/** The host does not hold the image any more, and albumd did not delete it. */
export function lost(tx: Tx, image: ImageRow, now: number): void {
  unrecord(tx, image, now, because('image_not_found'))
}

/** The image has other bytes than the file that it was linked to, so the image belongs to somebody else. */
export function refuted(tx: Tx, image: ImageRow, now: number): void {
  tx.refuted.put(image.remote_id, image.hash)
  unrecord(tx, image, now, because('image_refuted'))
}

/**
 * The image was fetched from `cdnUrl`, and its bytes are `bytes`. Files that are linked to the image and have these bytes
 * become synced.
 */
export function proved(
  tx: Tx,
  { id }: Pick<ImageRow, 'id'>,
  bytes: Pick<ImageRow, 'hash' | 'size'>,
  cdnUrl: string,
): void {
  tx.images.prove({ id, hash: bytes.hash, size: bytes.size, cdn_url: cdnUrl })
  tx.escrow.proved(id)
  for (const file of tx.files.onImage(id))
    if (file.state === 'linked' && file.hash?.equals(bytes.hash))
      writeFile(tx, 'proved', file.state, { ...file, state: 'synced', since: null })
}

/** The host lists the image in this album; null is the root. */
export function foundInAlbum(tx: Tx, image: ImageRow, album: number | null): void {
  tx.images.moved({ id: image.id, album })
}

/**
 * Removes the image's record and everything that names it. A picture that used the image is uploaded again. A hidden file
 * keeps its record without an image, because an upload of the file may still be in doubt.
 */
function unrecord(tx: Tx, image: ImageRow, now: number, detail: Reason): void {
  for (const file of tx.files.onImage(image.id)) {
    const { state } = file
    if (state === 'gone' || state === 'kept') removeFile(tx, 'image gone', state, file)
    else if (state === 'synced' || state === 'linked') {
      tx.history.ofFile(file, { at: now, event: 'lost', detail })
      writeFile(tx, 'image gone', state, { ...file, image: null, state: 'pending', since: now, hash: null })
    } else writeFile(tx, 'image gone', state, { ...file, image: null })
    tx.folders.removeIfEmpty(file.folder)
  }
  tx.journal.forgetImage(image.id)
  tx.escrow.takeBack(image.id)
  tx.images.remove(image.id)
}

const WHY = { deleted: 'picture_gone', superseded: 'older_version', ignored: 'rule_hides' } as const

function noteDeleted({ history, escrow, files, folders }: Tx, image: ImageRow, now: number): void {
  const entry = escrow.of(image.id)
  if (!entry) return
  const other = entry.reason === 'deleted' ? files.withBytes(image.hash) : undefined
  const folder = other && folders.byId(other.folder)
  const detail =
    other && folder
      ? because('picture_moved', {
          path: folder.path === '' ? other.name : `${folder.path}/${other.name}`,
        })
      : because(WHY[entry.reason])
  history.add(entry, { at: now, event: 'deleted', detail })
}
