import type { OpenPicture } from '../../local/picture-file.ts'
import { HOUR_MS } from '../../protocol/clock.ts'
import { proved, refuted } from '../../records/images.ts'
import { stored, unchanged } from '../../records/pictures.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { flatness } from '../album.ts'
import { mayArriveFor, momentOf } from '../clock.ts'
import type { EngineContext, HostPort, RecordPort } from '../context.ts'
import {
  type Comparison,
  canBe,
  compareBytes,
  confirmedPattern,
  dimensionsFit,
  featuresOf,
  type UnrecordedImage,
  unrecordedIn,
} from '../listing/index.ts'
import type { Parcel, ReadPicture, UploadResult } from './upload-job.ts'

/** Asks, before a picture is sent, whether an unrecorded image in its album is this picture already. Each image is given to
 * one file at most. When several images can be the picture and nothing tells them apart, the file fails with a message that
 * says so. Returns null when the picture must be sent. */
export async function adopt(
  context: EngineContext,
  parcel: Parcel,
  signal: AbortSignal,
): Promise<UploadResult | null> {
  const { synced, contents, clock } = context
  const { job, open, picture, album } = parcel
  const { name, image: used } = job.file
  const features = { name, size: open.look.size, ...featuresOf(picture) }
  // Recovery may have recorded some of these images since the album was walked, so recorded images are taken out once more.
  const alike = unrecordedIn(synced, contents.unrecorded(album, name)).filter(
    image => canBe(image, features) && !synced.refuted.has(image.id, open.hash),
  )
  const [only] = alike
  if (!only || synced.resend.has(job.file)) return null
  const inDoubt = synced.journal.openOnFile(job.file)
  const mayArrive = mayArriveFor(context.credentialLifetimeMs)
  if (inDoubt.some(({ sent_at }) => clock.monotonic() - sent_at <= mayArrive))
    return { kind: 'waits', message: because('older_version_open') }
  if (inDoubt.length > 0) return ambiguous(context, open, because('older_version_alike'))
  // The picture may be linked to an image only in its own album. When its own album can't be created, the album above holds
  // pictures of several folders, and pictures of one name may differ. A file that uses an image already is not linked,
  // because it keeps its image until another image is proved.
  const flat = flatness(context.synced, job.albumPath, album)
  const mayLink = alike.length === 1 && flat === 0 && used === null
  const unknown: Reason[] = []
  for (const image of alike) {
    // Fetched only if an upload has shown how addresses are built: after a state loss everything would be fetched.
    const isShown = confirmedPattern(synced)?.addressOf(image.id, name) != null
    const compared: Comparison =
      mayLink && !isShown
        ? { verdict: 'unknown', why: because('address_not_known') }
        : await compareBytes(context, { remote_id: image.id, name }, bytesOf(open), signal)
    if (compared.verdict === 'equal' && contents.claim(album, image)) {
      await record(context, parcel, image, { cdn_url: compared.cdnUrl, proof: 'compared', flat })
      return { kind: 'unchanged', size: open.look.size, compared: true }
    }
    if (compared.verdict === 'unknown') unknown.push(compared.why)
    if (compared.verdict === 'other') await synced.commit(tx => tx.refuted.put(image.id, open.hash))
  }
  if (unknown.length === 0) return null
  // An equal name proves nothing, but sending the picture could make a second image of it.
  if (mayLink && contents.claim(album, only)) {
    await record(context, parcel, only, { cdn_url: null, proof: 'none', flat })
    return { kind: 'linked' }
  }
  const why = because('images_alike', { images: unknown.length, why: unknown[0]! })
  return ambiguous(context, open, why)
}

/** Asks, for a changed file whose image was only linked, whether the image has the file's new bytes. The image was linked by
 * its name, so it may have had the new bytes all along. Returns null when the picture must be sent. */
export async function adoptLinked(
  context: EngineContext,
  { job, open, picture }: ReadPicture,
  linked: ImageRow,
  signal: AbortSignal,
): Promise<UploadResult | null> {
  const { synced } = context
  const compared = await compareBytes(context, linked, bytesOf(open), signal)
  if (compared.verdict === 'equal') {
    await synced.commit(tx => {
      proved(tx, linked, bytesOf(open), compared.cdnUrl)
      unchanged(tx, job, open, tx.images.byId(linked.id)!, job.file.flat, momentOf(context))
    })
    return { kind: 'unchanged', size: open.look.size, compared: true }
  }
  if (compared.verdict === 'other' || !dimensionsFit(linked, featuresOf(picture))) return null
  const why = because('linked_image_alike', { why: compared.why })
  return ambiguous(context, open, why)
}

function ambiguous({ clock }: EngineContext, { hash }: OpenPicture, message: Reason): UploadResult {
  return { kind: 'failed', code: 'AMBIGUOUS', message, retryAt: clock.wall() + HOUR_MS, hash }
}

function record(
  context: EngineContext,
  { job, open, picture }: Parcel,
  { id, album }: UnrecordedImage,
  known: { cdn_url: string | null; proof: 'none' | 'compared'; flat: FileRow['flat'] },
): Promise<void> {
  return context.synced.commit(tx =>
    stored(tx, job, open, picture, { remote_id: id, album, ...known }, momentOf(context)),
  )
}

function bytesOf(open: OpenPicture) {
  return { hash: open.hash, size: open.look.size }
}

export interface Verified {
  /** How many images have the same bytes as their file. */
  equal: number
  /** How many images have other bytes than their file. The files of these images are uploaded. */
  other: number
  unknown: number
  /** Why the first of the images counted in `unknown` can't be compared; null when there is no such image. */
  why: Reason | null
}

/** Fetches every linked image and compares its bytes with its file's. `between`: gives other work its turn. */
export async function verifyLinks(
  context: RecordPort & HostPort,
  signal: AbortSignal,
  between: () => Promise<void> = async () => {},
): Promise<Verified> {
  const { synced } = context
  const verified: Verified = { equal: 0, other: 0, unknown: 0, why: null }
  for (const { id } of synced.images.linked()) {
    if (signal.aborted) break
    await between()
    const image = synced.images.byId(id)
    if (image?.proof !== 'none') continue
    const compared = await verifyLink(context, image, signal)
    verified[compared.verdict]++
    if (compared.verdict === 'unknown') verified.why ??= compared.why
  }
  return verified
}

/** Fetches a linked image and compares its bytes. When they differ, its record goes, and the file is uploaded. */
export async function verifyLink(
  context: RecordPort & HostPort,
  image: ImageRow,
  signal: AbortSignal,
): Promise<Comparison> {
  const { synced, clock } = context
  const compared = await compareBytes(context, image, image, signal)
  if (compared.verdict === 'equal') await synced.commit(tx => proved(tx, image, image, compared.cdnUrl))
  if (compared.verdict === 'other') await synced.commit(tx => refuted(tx, image, clock.wall()))
  return compared
}
