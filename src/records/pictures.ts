import { mayHideEdit } from '../local/disk.ts'
import { isSameLook } from '../local/look.ts'
import type { OpenPicture } from '../local/picture-file.ts'
import type { SentPicture } from '../local/sent-picture.ts'
import type { Millis } from '../protocol/clock.ts'
import { imageNameOf } from '../protocol/formats.ts'
import type { Picture } from '../protocol/picture/picture.ts'
import type { Tx } from '../synced/synced.ts'
import type { FileKey, FileRow, FileState } from '../synced/tables/files.ts'
import type { Location } from '../synced/tables/history.ts'
import { type ImageRow, TO_SEND_ANEW } from '../synced/tables/images.ts'
import type { OpenUpload } from '../synced/tables/journal.ts'
import { because, type Reason } from '../words/reasons.ts'
import { type Deletions, enterEscrow, isKept, type Moment, superseded, takenBack } from './escrow.ts'
import { removeFile, writeFile } from './file-states.ts'
import { noteChange, noteImage } from './history.ts'
import { held, madeOf, perhapsReplaced } from './images.ts'
import { ledgerNow } from './ledger-time.ts'
import { isAtPath, locationOf, versionBegan, versionEnded, versionStart } from './versions.ts'

/** What a look at a file means. pending: the file is new or changed; it is hashed, and sent when its bytes are new. aside: it is
 * left out, or gone from a mirror that keeps images, so its image stays. gone: its image enters escrow. pruned: a rule hides it
 * and a person wants such images deleted, so its image enters escrow. */
export interface FileChange {
  kind: 'pending' | 'aside' | 'gone' | 'pruned'
  file: FileRow
  /** The file's state before; null when the file had no record. */
  was: FileState | null
  reason: Reason
  /** The row of a kept image that this change leaves: the picture is there again with other bytes. The image stays for good. */
  leaves?: number
}

/** A picture with its location, as the scan saw it. */
export interface Scanned extends Location {
  file: FileRow
  deletions: Deletions
}

/** A picture that was read, and what is sent of it. */
export interface ReadPicture {
  open: OpenPicture
  sent: SentPicture
  picture: Picture
}

/** An image that a picture will use: the image's place, whether the picture lies flat, and what proves the bytes. `note`: what its
 * history says of this. */
export type Stored = Pick<ImageRow, 'remote_id' | 'cdn_url' | 'album' | 'proof'> &
  Partial<Pick<ImageRow, 'data'>> &
  Pick<FileRow, 'flat'> & { note?: Reason | null }

type KnownChange = FileChange & { was: FileState }

/** Whether the file had a record. Of a new file only the record is written, because its history begins with its upload. */
export function isOfKnown(change: FileChange): change is KnownChange {
  return change.was !== null
}

/** A scan found a file changed, missing or left out. Records what follows for the file, its image and its history. */
export function changed(tx: Tx, change: KnownChange, { mirror, path }: Location, moment: Moment): void {
  const { kind, was, reason: why, leaves } = change
  const file = { ...change.file, since: change.file.since ?? moment.now }
  noteChange(tx, { mirror, path }, file.state, why, moment.now)
  tx.failures.clear(file.folder, file.name)
  if (leaves !== undefined) tx.images.keep(leaves)
  noteVersion(tx, { file, was }, { mirror, path }, ledgerNow(tx, moment.now))
  if (kind === 'pending' || kind === 'aside') {
    writeFile(tx, 'changed', was, file)
    // The file needs its image, so the image must not stay in escrow.
    if (file.image !== null) takenBack(tx, file.image)
  } else if (file.image === null) removeFile(tx, 'missing', was, file)
  else {
    writeFile(tx, 'missing', was, file)
    const reason = kind === 'gone' ? 'deleted' : 'ignored'
    enterEscrow(tx, { image: file.image, mirror, path, reason }, moment)
  }
}

/** When the image of a picture that is gone stays for good, the file becomes kept, so that the image can still be found. */
export function keepingImage(tx: Tx, change: FileChange): FileChange {
  const { kind, file } = change
  if ((kind !== 'gone' && kind !== 'pruned') || file.image === null || !isKept(tx, file.image)) return change
  return { ...change, kind: 'aside', file: { ...file, state: 'kept' }, reason: because('image_kept') }
}

/** The host has an image of the picture: sent, adopted by its bytes, or linked. The file uses this image from now on. */
export function stored(
  tx: Tx,
  scanned: Scanned,
  { open, sent, picture: { mime, width, height } }: ReadPicture,
  { flat, note = null, ...at }: Stored,
  moment: Moment,
): void {
  const image = held(tx, {
    ...at,
    name: imageNameOf(scanned.file.name),
    hash: sent.hash,
    size: sent.size,
    how: sent.how,
    mime,
    width,
    height,
    recorded_at: moment.now,
    mtime: open.look.mtime,
  })
  // The id may be recorded already for an image with other bytes. The file must not use that image.
  if (image.hash.equals(sent.hash)) usesImage(tx, scanned, open, image, { isNew: true, note }, flat, moment)
}

/** The file was read, and what would be sent of it has the bytes of a recorded image, so it needs no upload. `flat`: as in `FileRow`. */
export function unchanged(
  tx: Tx,
  scanned: Scanned,
  open: OpenPicture,
  image: ImageRow,
  flat: FileRow['flat'],
  moment: Moment,
): void {
  usesImage(tx, scanned, open, image, { isNew: false, note: null }, flat, moment)
}

/** The file was read, and has other bytes than its image. Its hash is recorded, so that it is not read again. */
export function hashed(tx: Tx, file: FileRow, open: OpenPicture): void {
  if (isSameLook(file, open.look) && !mayHideEdit(open.look.ctime, open.readAt))
    writeFile(tx, 'hashed', file.state, { ...file, hash: open.hash })
}

/** What became of the upload is not known. `since`: when it was sent. `until`: when recovery knows it at the latest. */
export function uncertain(
  tx: Tx,
  file: FileRow,
  { hash, since, until, why }: { hash: Buffer; since: number; until: number; why: Reason },
  now: number,
): void {
  writeFile(tx, 'uncertain', file.state, { ...file, state: 'uncertain', since, hash })
  tx.failures.put({
    folder: file.folder,
    name: file.name,
    source: 'uncertain',
    code: 'UNCERTAIN',
    message: because('uncertain', { why }),
    refusals: 0,
    next_attempt_at: Math.round(until),
  })
  tx.history.ofFile(file, { at: now, event: 'uncertain', detail: why })
}

export interface Failed {
  code: string
  message: Reason
  retryAt: number | null
  hash: Buffer | null
  /** The host refused the picture itself. */
  isRefused: boolean
}

/** The upload of a file failed. `retryAt`: when it is tried again. Null: it is tried again only when the file changes. */
export function failed(
  tx: Tx,
  file: FileRow,
  { code, message, retryAt, hash, isRefused }: Failed,
  now: number,
): void {
  // Without a hash, the file would count as a possible new place of each image of its size in escrow, and that image would stay.
  writeFile(tx, 'failed', file.state, { ...file, state: 'failed', hash })
  tx.failures.put({
    folder: file.folder,
    name: file.name,
    source: 'upload',
    code,
    message,
    refusals: isRefused ? 1 : 0,
    next_attempt_at: retryAt,
  })
  tx.history.ofFile(file, {
    at: now,
    event: 'failed',
    detail: because('upload_failed', { why: message, code }),
  })
}

/** Makes failed files pending, so that they are tried again. Each failure stays recorded until the new try has ended. */
export function retried(tx: Tx, files: readonly FileKey[]): void {
  for (const file of files) tx.files.retry(file)
}

/** The host refuses all pictures. So these pictures have not failed, and wait. */
export function refusedByAll(tx: Tx, files: readonly FileKey[]): void {
  retried(tx, files)
  for (const { folder, name } of files) tx.failures.clear(folder, name)
}

/** A person asked to send the files again, although their uploads may have arrived. */
export function resent(tx: Tx, files: readonly FileRow[], now: Millis): void {
  for (const file of files) {
    for (const intent of tx.journal.openOnFile(file)) closeInDoubt(tx, intent, now)
    writeFile(tx, 'resent', file.state, { ...file, state: 'pending', since: file.since ?? now, hash: null })
    tx.failures.clear(file.folder, file.name)
    tx.resend.put(file)
  }
}

/** A person asked to send these files anew, because their images have metadata that are taken out now. */
export function askedAnew(tx: Tx, files: readonly FileRow[], now: Millis): void {
  for (const file of files) {
    tx.images.describe({ id: file.image!, data: null, how: TO_SEND_ANEW })
    writeFile(tx, 'resent', file.state, { ...file, state: 'pending', since: now, hash: null })
  }
}

const FOUND = {
  uploaded: 'found_as_promised',
  compared: 'found_by_bytes',
  none: 'found_alike',
} as const

/** Recovery has found the image of an upload in doubt. When the file has changed since, the image shows an older version and is
 * to be deleted. `deletionsOf`: what the mirror does with such images. */
export function found(
  tx: Tx,
  intent: OpenUpload,
  { flat, ...at }: Omit<Stored, 'note'>,
  deletionsOf: (mirror: number) => Deletions,
  moment: Moment,
): void {
  const { folder, name, hash, size, how, mime, width, height, mtime } = intent
  const image = held(tx, {
    ...at,
    name: imageNameOf(name),
    hash,
    size,
    how,
    mime,
    width,
    height,
    recorded_at: moment.now,
    mtime,
  })
  madeOf(tx, image, { hash: intent.file_hash, size: intent.file_size })
  tx.journal.close(intent.id)
  tx.history.ofFile(intent, { at: moment.now, event: 'arrived', detail: because(FOUND[at.proof]) })
  const file = tx.files.at({ folder, name })
  const location = locationOf(tx, intent)
  const deletions = deletionsOf(location.mirror)
  if (file && isVersion(file, intent)) {
    const ofImage = image.proof === 'none' ? 'linked' : 'synced'
    const state = file.state === 'hidden' ? 'hidden' : ofImage
    const since = state === 'hidden' ? file.since : null
    // No file has the ctime 0. So the next scan finds the file changed, and its bytes are read.
    const uses = { image: image.id, hash: intent.file_hash, flat }
    settle(tx, 'found', file, { ...file, ctime: 0, state, since, ...uses })
    tx.folders.lookAgain(folder)
    supersede(tx, file, image, location, deletions, moment)
  } else if (file && file.image === null && file.state !== 'gone') {
    // The file has a newer version by now. Until the newer version is uploaded, the file uses the image of the older one.
    writeFile(tx, 'found', file.state, { ...file, image: image.id, flat })
    versionBegan(tx, location, image, ledgerNow(tx, moment.now))
  } else if (tx.files.onImage(image.id).length === 0 && deletions === 'propagate') {
    const reason = file && file.state !== 'gone' ? 'superseded' : 'deleted'
    enterEscrow(tx, { image: image.id, ...location, reason }, moment)
  }
  tx.folders.removeIfEmpty(folder)
}

/** An upload never arrived, so the file is sent again. When a proxy had refused it (`refusal`), the file fails instead.
 * `isApart`: the host has not put the upload into the image of another version. */
export function neverArrived(
  tx: Tx,
  intent: OpenUpload,
  now: number,
  { refusal, isApart }: { refusal: Failed | null; isApart: boolean },
): void {
  const { folder, name } = intent
  if (isApart) tx.journal.close(intent.id)
  else closeInDoubt(tx, intent, now)
  tx.history.ofFile(intent, { at: now, event: 'never_arrived' })
  const file = tx.files.at(intent)
  if (file?.state === 'uncertain' && isVersion(file, intent)) {
    writeFile(tx, 'never arrived', file.state, {
      ...file,
      state: 'pending',
      since: file.since ?? now,
      hash: null,
    })
    if (refusal) {
      // Only the doubt is forgotten. Earlier failures stay, because their number says how often the upload was tried.
      tx.failures.clearDoubt(folder, name)
      failed(tx, tx.files.at(intent)!, refusal, now)
    } else tx.failures.clear(folder, name)
  }
  tx.folders.removeIfEmpty(folder)
}

/** No image was found that is the upload's. But a host may have put it into the image of another version, be that an older or
 * a newer one. So the file is not synced until its image is proved. */
function closeInDoubt(tx: Tx, intent: OpenUpload, now: number): void {
  tx.journal.close(intent.id)
  const file = tx.files.at(intent)
  const image = tx.images.byId(file?.image ?? 0)
  if (!file || !image || image.hash.equals(intent.hash) || tx.meta.get('versions_apart') !== null) return
  perhapsReplaced(tx, image)
  if (file.state === 'synced')
    writeFile(tx, 'never arrived', file.state, { ...file, state: 'pending', since: now })
}

function usesImage(
  tx: Tx,
  { file, mirror, path, deletions }: Scanned,
  open: OpenPicture,
  image: ImageRow,
  how: Pick<Parameters<typeof noteImage>[3], 'isNew' | 'note'>,
  flat: FileRow['flat'],
  moment: Moment,
): void {
  madeOf(tx, image, { hash: open.hash, size: open.look.size })
  noteImage(tx, { file, mirror, path, deletions }, image, { ...how, hash: open.hash }, moment.now)
  const { folder, name } = file
  // The file that was read is not the one that the scan saw: its folder was replaced, and may be put back unchanged.
  if (!isSameLook(file, open.look)) tx.folders.lookAgain(folder)
  // The file may change without a new timestamp. No file has the ctime 0, so its bytes are read again.
  const ctime = mayHideEdit(open.look.ctime, open.readAt) ? 0 : open.look.ctime
  const state = image.proof === 'none' ? 'linked' : 'synced'
  const row = {
    folder,
    name,
    ...open.look,
    ctime,
    state,
    since: null,
    image: image.id,
    hash: open.hash,
    flat,
  } as const
  settle(tx, 'stored', file, row)
  supersede(tx, file, image, { mirror, path }, deletions, moment)
}

/** The file uses its image. This ends its failures, the image's wait in escrow and a wish to send it again. */
function settle(tx: Tx, transition: 'stored' | 'found', before: FileRow, row: FileRow): void {
  writeFile(tx, transition, before.state, row)
  tx.failures.clear(row.folder, row.name)
  tx.escrow.takeBack(row.image!)
  tx.resend.remove(row)
}

/** A picture that used the image of `before`, its record until now, uses `image` instead. */
function supersede(
  tx: Tx,
  before: FileRow,
  image: ImageRow,
  location: Location,
  deletions: Deletions,
  moment: Moment,
): void {
  if (before.image === image.id) return
  const began = versionStart(tx, before, image.hash, ledgerNow(tx, moment.now))
  if (before.image !== null) {
    versionEnded(tx, location, tx.images.byId(before.image)!, began)
    superseded(tx, before.image, location, deletions, moment)
  }
  if (before.image === null || began < image.recorded_at) versionBegan(tx, location, image, began)
}

/** Notes that a picture with an image is gone, or is there again. */
function noteVersion(
  tx: Tx,
  { file, was }: Pick<FileChange, 'file' | 'was'>,
  location: Location,
  now: Millis,
): void {
  if (file.image === null || isAtPath(was) === isAtPath(file.state)) return
  const image = tx.images.byId(file.image)!
  if (isAtPath(was)) versionEnded(tx, location, image, now, file)
  else versionBegan(tx, location, image, now)
}

/** A file in one of these states may still be the version that an upload in doubt has sent. */
const MAY_BE_SENT: ReadonlySet<FileState> = new Set(['uncertain', 'pending', 'hidden'])

function isVersion(file: FileRow, { file_size: size, mtime, file_hash: hash }: OpenUpload): boolean {
  if (!MAY_BE_SENT.has(file.state)) return false
  // When the hash is known, size and mtime are not compared, because `touch` changes the mtime of a file and not its bytes.
  return file.hash === null ? file.size === size && file.mtime === mtime : file.hash.equals(hash)
}
