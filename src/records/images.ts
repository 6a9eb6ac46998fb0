import type { Tx } from '../synced/synced.ts'
import type { Altered, Bytes, ImageRow } from '../synced/tables/images.ts'
import { because, type Reason } from '../words/reasons.ts'
import { removeFile, writeFile } from './file-states.ts'
import { noteDeleted } from './history.ts'
import { ledgerNow } from './ledger-time.ts'
import { bytesGivenUp, bytesHeld, isAtPath, locationOf, versionEnded } from './versions.ts'

/** The host holds this image. A host may give equal bytes the same id again, even after an audit found the image gone. */
export function held(tx: Tx, image: Parameters<Tx['images']['put']>[0]): ImageRow {
  const row = tx.images.put(image)
  bytesHeld(tx, row.hash)
  if (row.hash.equals(image.hash)) tx.refuted.remove(row.remote_id, row.hash)
  tx.audit.remove('gone', row.remote_id)
  return row
}

/** albumd deleted the image, or asked for its deletion and the host answered that the image is gone. */
export function deleted(tx: Tx, image: ImageRow, now: number): void {
  tx.deleted.put(image.remote_id, now)
  noteDeleted(tx, image, now)
  unrecord(tx, image, now, because('image_gone'))
}

/** The host does not hold the image any more, and albumd did not delete it. */
export function lost(tx: Tx, image: ImageRow, now: number): void {
  // The record of a picture that is gone is removed too. So the history keeps what became of its image.
  for (const file of tx.files.onImage(image.id))
    if (file.state === 'gone' || file.state === 'kept')
      tx.history.ofFile(file, { at: now, event: 'lost', detail: because('image_not_found') })
  unrecord(tx, image, now, because('image_not_found'))
}

/** The image has other bytes than the file that was linked to it, so it is not this file's image. */
export function refuted(tx: Tx, image: ImageRow, now: number): void {
  tx.refuted.put(image.remote_id, image.hash)
  // The record of a picture that is gone is removed too. So the history keeps why an image of its name stays.
  tx.history.ofImage(image.id, { at: now, event: 'kept', detail: because('bytes_differ') })
  unrecord(tx, image, now, because('image_refuted'), false)
}

/** The host has put another version of the picture into the image, which keeps its id. The old version is gone there. */
export function replaced(tx: Tx, image: ImageRow, now: number): void {
  tx.meta.clear('versions_apart')
  unrecord(tx, image, now, because('image_refuted'))
}

/** Nobody knows whether the host has put another version of the picture into the image. Until it is proved, no file counts as
 * there because it has the image's recorded bytes. */
export function perhapsReplaced(tx: Tx, { remote_id, hash }: ImageRow): void {
  tx.refuted.put(remote_id, hash)
}

/** The image was fetched from `cdnUrl`, and has these bytes. `isAsRecorded`: they are the recorded picture's, so the files that are
 * linked to it for this picture become synced. */
export function proved(
  tx: Tx,
  image: ImageRow,
  { hash, size }: Bytes,
  cdnUrl: string,
  isAsRecorded: boolean,
): void {
  const { id } = image
  const isIts = (bytes: Buffer | null) =>
    (isAsRecorded ? tx.images.isOf(image, bytes) : bytes?.equals(hash)) === true
  const linked = tx.files.onImage(id).filter(file => file.state === 'linked' && isIts(file.hash))
  tx.refuted.remove(image.remote_id, hash)
  if (!isAsRecorded) tx.images.forgetGiven(id)
  tx.images.prove({ id, hash, size, cdn_url: cdnUrl })
  tx.escrow.proved(id)
  for (const file of linked) writeFile(tx, 'proved', 'linked', { ...file, state: 'synced', since: null })
}

/** The file of an image was read, which nobody had at hand when the image was recorded. Null: nothing more is known. */
export function described(tx: Tx, { id }: ImageRow, more: Pick<ImageRow, 'data' | 'how'>): void {
  if (more.data ?? more.how) tx.images.describe({ id, ...more })
}

/** These are the bytes of a file from which the image was made, so a file with them is the image's picture. */
export function madeOf(tx: Tx, { id, hash }: ImageRow, file: Bytes): void {
  if (!file.hash.equals(hash)) tx.images.madeOf({ id, ...file })
}

/** Bytes that a restore gets of an image, and that differ from what the host was sent. */
export type Restored = Altered & { remote_id: string }

/** A restore is about to write these bytes. From now on, a file with them counts as the image's picture. */
export function given(tx: Tx, restored: readonly Restored[]): void {
  for (const { remote_id, ...bytes } of restored) {
    const image = tx.images.byRemoteId(remote_id)
    if (image) tx.images.give({ id: image.id, ...bytes })
  }
}

/** The host lists the image in this album. Null is the root. */
export function foundInAlbum(tx: Tx, image: ImageRow, album: number | null): void {
  tx.images.moved({ id: image.id, album })
}

/** The host has altered what it was sent, and lists the image like this. `listed`: as in `ImageRow`. */
export function listedAltered(tx: Tx, image: { id: number; listed: string }): void {
  tx.images.listed(image)
}

/** Removes the image's record and what names it. A synced or linked file is sent again. The record of a gone or kept file is
 * removed. Any other file keeps its state. `wasVersion`: the image had the bytes of a version of its files. */
function unrecord(tx: Tx, image: ImageRow, now: number, detail: Reason, wasVersion = true): void {
  for (const file of tx.files.onImage(image.id)) {
    const { state } = file
    if (wasVersion && isAtPath(state)) versionEnded(tx, locationOf(tx, file), image, ledgerNow(tx, now), file)
    if (state === 'gone' || state === 'kept') removeFile(tx, 'image gone', state, file)
    else if (state === 'synced' || state === 'linked') {
      tx.history.ofFile(file, { at: now, event: 'lost', detail })
      writeFile(tx, 'image gone', state, { ...file, image: null, state: 'pending', since: now, hash: null })
    } else writeFile(tx, 'image gone', state, { ...file, image: null })
    tx.folders.removeIfEmpty(file.folder)
  }
  tx.journal.forgetImage(image.id)
  tx.escrow.takeBack(image.id)
  tx.audit.remove('gone', image.remote_id)
  const given = tx.images.given(image)
  tx.images.remove(image.id)
  for (const { hash } of given) bytesGivenUp(tx, hash)
}
