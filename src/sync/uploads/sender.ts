import { isSameLook } from '../../local/look.ts'
import { exemptFromDimensions, imageNameOf } from '../../protocol/formats.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import type { UploadRequest } from '../../protocol/records.ts'
import { albumUsed } from '../../records/albums.ts'
import { refuted, replaced } from '../../records/images.ts'
import { stored } from '../../records/pictures.ts'
import { cancelled, NO_ROOM } from '../../remote/failures.ts'
import type { Credential, HostFailure, Outcome, Sent } from '../../remote/host.ts'
import type { MetaReads, Tx } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because } from '../../words/reasons.ts'
import { type Album, flatness } from '../album.ts'
import { momentOf, noteAsked } from '../clock.ts'
import {
  compareDelivered,
  dataToRecord,
  delivers,
  deliveryOf,
  knownOf,
  learnFrom,
  mayBeAltered,
  pictureOf,
} from '../delivered/index.ts'
import { idIn } from '../listing/index.ts'
import { fullPath } from '../tree-path.ts'
import { type Parcel, resultOfRefusal, type UploadResult, type UploadRun } from './upload-job.ts'

/** How many credentials a file may use up before it fails. */
const CREDENTIALS = 4

/** The host's two-step upload (§4.1, §4.2): credential, intent, bytes, record. */
export async function send(run: UploadRun, parcel: Parcel, signal: AbortSignal): Promise<UploadResult> {
  const { job, open, sent: made, picture } = parcel
  const declaration = new Declaration(run.synced, picture)
  /** Begins to be on the way to the host. Returns null, or why this upload may not. */
  const begin = async (): Promise<UploadResult | null> => {
    if (!(await job.lane.enter())) return { kind: 'stop', failure: cancelled('upload', 'nothing') }
    return isAsRead(run, parcel) ? null : { kind: 'waits', message: because('file_changed_since') }
  }
  const refused = async (failure: HostFailure) => {
    if (failure.issued) await run.synced.commit(tx => run.quota.grant(tx))
    const refusals = run.synced.failures.ofUpload(job.file)?.refusals ?? 0
    return resultOfRefusal(failure, open.hash, run.clock.wall(), refusals)
  }
  let hindrance = await begin()
  for (let tries = 1; hindrance === null; ) {
    const sent = await sendOnce(run, parcel, declaration, signal)
    if (sent.ok) {
      const { cdnUrl, imageId } = sent.value
      return { kind: 'uploaded', cdnUrl, imageId, size: made.size }
    }
    const { failure } = sent
    // A failure of step 2 has used up the credential. A failure of step 1 has brought none.
    const isGranted = failure.endpoint === 'send'
    if (isFull(failure)) {
      job.lane.giveWay()
      hindrance = await begin()
      if (!isGranted || hindrance) continue
    }
    const isDeclaredAnew = declaration.refused(failure)
    const isUsedUp = isGranted && (failure.remedy === 'new_credential' || failure.remedy === 'give_way')
    if ((!isDeclaredAnew && !isUsedUp) || tries === CREDENTIALS) return refused(failure)
    if (!isDeclaredAnew && failure.code !== 'CREDENTIAL_EXPIRED')
      await run.clock.sleep(250 * 2 ** (tries - 1), signal)
    tries++
  }
  return hindrance
}

/** One try: a credential, and then the bytes. */
async function sendOnce(
  run: UploadRun,
  parcel: Parcel,
  declaration: Declaration,
  signal: AbortSignal,
): Promise<Outcome<Stored>> {
  const granted = await requestCredential(run, parcel, declaration, signal)
  if (!granted.ok) return granted
  const { album, ...credential } = granted.value
  return sendBytes(run, { ...parcel, album }, declaration, credential, signal)
}

/** Whether the host has no room for this upload beside the others. */
function isFull({ endpoint, code, remedy }: HostFailure): boolean {
  return endpoint === 'send' ? code === NO_ROOM : remedy === 'give_way'
}

/** Whether the file is still as it was read, and still to be sent, after it has waited for its lane. */
function isAsRead({ disk }: UploadRun, { job: { root, path, isAsScanned }, open }: Parcel): boolean {
  try {
    return isAsScanned() && isSameLook(disk.lstat(fullPath(root, path)), open.look)
  } catch {
    return false
  }
}

async function requestCredential(
  run: UploadRun,
  parcel: Parcel,
  declaration: Declaration,
  signal: AbortSignal,
): Promise<Outcome<Credential & { album: Album }>> {
  const { albums, host, uploadForm } = run
  noteAsked(run)
  // §4.3 names no album, so uploads of that form land in the account's default album.
  const named = (album: Album) => (uploadForm === 'presign' ? null : album)
  const ask = (album: Album) =>
    host.requestUpload(requestFor({ ...parcel, album: named(album) }, declaration), signal)
  let { album } = parcel
  let granted = await ask(album)
  if (!granted.ok && granted.failure.remedy === 'gone' && album) {
    const again = await albums.lookAgain(parcel.job.albumPath, signal, album)
    if (!again.ok) return again
    album = again.value
    granted = await ask(album)
  }
  return granted.ok ? { ok: true, value: { ...granted.value, album } } : granted
}

async function sendBytes(
  run: UploadRun,
  parcel: Parcel,
  declaration: Declaration,
  credential: Credential,
  signal: AbortSignal,
): Promise<Outcome<Stored>> {
  const { synced, host, clock, quota } = run
  const { job, open, album } = parcel
  const { folder, name } = job.file
  const { width, height, mime } = parcel.picture
  const { hash, size, how, memory, chunks } = parcel.sent
  const time = { since: clock.wall(), sent_at: Math.round(clock.monotonic()) }
  const intent = await synced.commit(tx => {
    quota.grant(tx)
    if (album) albumUsed(tx, album.id)
    return tx.journal.openUpload({
      folder,
      name,
      mtime: open.look.mtime,
      hash,
      size,
      how,
      file_hash: open.hash,
      file_size: open.look.size,
      mime,
      width,
      height,
      cdn_url: credential.cdnUrl,
      remote_id: credential.imageId,
      album: album?.id ?? null,
      ...time,
    })
  })
  const lent = memory && { ...memory, released: memory.lend() }
  const body = { fileName: imageNameOf(name), mime, size, chunks, ...lent }
  const answer = await notArrived(
    run,
    await keepingPromise(run, parcel, await host.send(credential, body, signal), credential, signal),
    parcel,
    credential.cdnUrl,
    signal,
  )
  const isReplaced = answer.ok && (await replacesItsOwn(run, parcel, answer.value, signal))
  // A proxy may send a request twice, and the node refuse the second copy. So the next try looks at the album first.
  if (!answer.ok && answer.failure.remedy === 'refused_by_node') run.contents.forget(album?.id ?? null)
  const data = answer.ok ? await dataToRecord(run, parcel) : null
  // Commits keep their order. So the next upload's intent is not on the disk before this upload's record.
  if (answer.ok) job.lane.leave()
  return synced.commit(tx => {
    const known = answer.ok ? synced.images.byRemoteId(answer.value.imageId) : undefined
    const sent = isReplaced ? answer : notAnothers(answer, known, hash)
    if (sent.ok) {
      const { imageId, cdnUrl } = sent.value
      if (credential.cdnUrl !== null && credential.cdnUrl !== cdnUrl) tx.meta.set('promises_broken', true)
      const place = {
        remote_id: imageId,
        cdn_url: cdnUrl,
        album: album?.id ?? null,
        proof: 'uploaded',
        data,
        flat: flatness(run.synced, job.albumPath, album),
      } as const
      // The recorded image of this id has other bytes. It was replaced, or was linked to a picture by name alone, wrongly.
      const file = withoutOther(parcel, known, () =>
        (isReplaced ? replaced : refuted)(tx, known!, clock.wall()),
      )
      stored(tx, { ...job, file }, parcel, place, momentOf(run))
      declaration.acknowledged(tx)
    }
    // When nobody knows whether the picture arrived (`find_out`), the intent stays open for recovery.
    if (sent.ok || sent.failure.remedy !== 'find_out') tx.journal.close(intent)
    return sent
  })
}

/** When a node refuses a credential that may be too old, another one is asked for at once. But a copy of the request may have
 * used that credential. The promised address shows it when it delivers the picture. Returns the answer, corrected by that. */
async function notArrived(
  run: UploadRun,
  answer: Outcome<Stored>,
  parcel: Parcel,
  cdnUrl: string | null,
  signal: AbortSignal,
): Promise<Outcome<Stored>> {
  if (answer.ok || !answer.failure.aged || cdnUrl === null) return answer
  const hasArrived = await isDelivered(run, parcel, cdnUrl, signal)
  return hasArrived ? { ok: false, failure: { ...answer.failure, remedy: 'find_out' } } : answer
}

/** Completes an answer that names no address by the address that step 1 promised, and one that names no id by the id in the
 * address. A host may have put the picture into an image that was there. So where the answer tells neither, only a delivery shows
 * that the promise was kept. Where nothing shows the id, recovery finds the image in its album. */
async function keepingPromise(
  run: UploadRun,
  parcel: Parcel,
  sent: Outcome<Sent>,
  promised: Credential,
  signal: AbortSignal,
): Promise<Outcome<Stored>> {
  if (!sent.ok) return sent
  const cdnUrl = sent.value.cdnUrl ?? promised.cdnUrl
  const imageId = sent.value.imageId ?? (cdnUrl === null ? null : idIn(run.synced, cdnUrl))
  const isTold = sent.value.imageId !== null || sent.value.cdnUrl !== null
  return imageId !== null && (isTold || (cdnUrl && (await isDelivered(run, parcel, cdnUrl, signal))))
    ? { ok: true, value: { imageId, cdnUrl } }
    : { ok: false, failure: withoutId }
}

/** Whether the promised address delivers the picture. A new image is the picture's, whatever the host makes of pictures. */
async function isDelivered(
  run: UploadRun,
  parcel: Parcel,
  cdnUrl: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { synced } = run
  const known = knownOf(parcel)
  const id = idIn(synced, cdnUrl)
  if (id === null || synced.images.byRemoteId(id)) return delivers(run, cdnUrl, known, signal)
  return (await learnFrom(run, known, cdnUrl, signal)).kind !== 'unknown'
}

type Stored = Sent & { imageId: string }

/** The failure of an answer without an id. It does not concern other uploads, so these go on. */
const withoutId: HostFailure = {
  remedy: 'find_out',
  endpoint: 'send',
  code: 'HOST_ANSWER',
  message: because('answer_without_id'),
  repeated: true,
}

/** The file without the image, which does not have its bytes any more. `forget` removes the image's record. */
function withoutOther(
  { job: { file }, sent }: Parcel,
  known: ImageRow | undefined,
  forget: () => void,
): FileRow {
  if (!known || known.hash.equals(sent.hash)) return file
  forget()
  return file.image === known.id ? { ...file, image: null } : file
}

/** Whether the host has put the picture into the image that its file uses, or into one of its name that no file uses: the same id
 * delivers the new bytes. */
async function replacesItsOwn(
  run: UploadRun,
  parcel: Parcel,
  { imageId, cdnUrl }: Stored,
  signal: AbortSignal,
): Promise<boolean> {
  const { synced } = run
  const { job, sent, picture, album } = parcel
  const known = synced.images.byRemoteId(imageId)
  if (!known || known.hash.equals(sent.hash)) return false
  const isUsed = known.id === job.file.image
  const isHere = known.album === (album?.id ?? null)
  if (!isUsed && !(isHere && known.name === imageNameOf(job.file.name))) return false
  if (synced.files.onImage(known.id).length > (isUsed ? 1 : 0)) return false
  const image = { ...known, cdn_url: cdnUrl ?? known.cdn_url }
  const compared = await compareDelivered(run, image, knownOf(parcel), signal)
  if (compared.verdict === 'equal') return compared.bytes.hash.equals(sent.hash)
  if (compared.verdict === 'other') return false
  // A host that has delivered no picture of this type can't show it, nor one that encodes anew. Then the answer alone counts.
  const isSilent = deliveryOf(synced, picture.mime) === undefined
  if (!isHere || !(isSilent || mayBeAltered(compared.why))) return false
  // When the host still delivers the old version, the image was not replaced.
  return image.cdn_url === null || !(await delivers(run, image.cdn_url, pictureOf(synced, known), signal))
}

/** Rejects an answer whose id is that of an image with other bytes, as when a node answers twice. */
function notAnothers(sent: Outcome<Stored>, known: ImageRow | undefined, hash: Buffer): Outcome<Stored> {
  const isAnothers = known !== undefined && known.proof !== 'none' && !known.hash.equals(hash)
  return isAnothers ? { ok: false, failure: idOfAnother } : sent
}

const idOfAnother: HostFailure = {
  remedy: 'find_out',
  endpoint: 'send',
  code: 'HOST_ANSWER',
  message: because('id_of_another'),
}

function requestFor({ job, sent, album }: Parcel, declaration: Declaration): UploadRequest {
  return {
    file_name: imageNameOf(job.file.name),
    file_size: sent.size,
    ...declaration.fields(),
    ...(album && { album_id: album.remote_id }),
  }
}

/** How a picture is declared (§4.1): the type of its bytes and the dimensions as stored, or none for an SVG or a TIFF. After the
 * host has refused these, `skip_dimension_check` makes it compare none. */
export class Declaration {
  readonly #picture: Picture
  #skips: boolean
  /** Whether the host reads other dimensions than the file stores, as a host does that applies EXIF to a turned picture. */
  #isMismatched = false

  constructor({ meta }: MetaReads, picture: Picture) {
    const { mime, width, height, turned } = picture
    const isUnknown = !exemptFromDimensions(mime) && (width === null || height === null)
    this.#picture = picture
    this.#skips = isUnknown || (turned === true && meta.get('turned_skip') !== null)
  }

  /** The fields that step 1 of the upload declares. */
  fields(): Pick<UploadRequest, 'mime_type' | 'width' | 'height' | 'skip_dimension_check'> {
    const { mime, width, height } = this.#picture
    if (this.#skips) return { mime_type: mime, skip_dimension_check: true }
    return width === null || height === null || exemptFromDimensions(mime)
      ? { mime_type: mime }
      : { mime_type: mime, width, height }
  }

  /** Notes that the host refused the declaration. Returns whether something else can be declared. */
  refused({ remedy, code }: HostFailure): boolean {
    if (remedy !== 'other_dimensions' || this.#skips) return false
    this.#skips = true
    this.#isMismatched = code === 'DIMENSION_MISMATCH'
    return true
  }

  /** Remembers how a picture was declared that the host took, so that further ones like it cost only one credential. */
  acknowledged({ meta }: Tx): void {
    if (this.#isMismatched && this.#picture.turned && meta.get('turned_skip') === null)
      meta.set('turned_skip', true)
  }
}
