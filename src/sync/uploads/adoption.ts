import { asItLies, isConverted } from '../../local/sent-picture.ts'
import { HOUR_MS } from '../../protocol/clock.ts'
import { imageNameOf, isHeicName } from '../../protocol/formats.ts'
import { proved, refuted } from '../../records/images.ts'
import { type Stored, stored, unchanged } from '../../records/pictures.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { Bytes, ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { flatness } from '../album.ts'
import { mayArriveFor, mayBePromised, momentOf } from '../clock.ts'
import type { DeliveryPort, EngineContext, RecordPort } from '../context.ts'
import {
  type Comparison,
  compareDelivered,
  dataToRecord,
  deliveryOf,
  isAltered,
  isIt,
  isLess,
  knownOf,
  learnFromOthers,
  mayBeAltered,
  pictureOf,
} from '../delivered/index.ts'
import {
  canBe,
  changesOf,
  confirmedPattern,
  dimensionsFit,
  featuresOf,
  sizeFits,
  sizeProves,
  type UnrecordedImage,
  unrecordedIn,
} from '../listing/index.ts'
import type { JobPicture, Parcel, UploadResult } from './upload-job.ts'

/** Asks, before a picture is sent, whether an unrecorded image in its album is this picture. Gives each image to one file at
 * most. When several may be the picture and nothing tells them apart, the file fails. Null: the picture must be sent. */
export async function adopt(
  context: EngineContext,
  parcel: Parcel,
  signal: AbortSignal,
): Promise<UploadResult | null> {
  const { synced } = context
  const { job } = parcel
  if (synced.resend.has(job.file)) return null
  for (const isNamed of [true, false]) {
    const candidates = candidatesFor(context, parcel, isNamed)
    if (candidates.images.length === 0) continue
    const inDoubt = synced.journal.openOnFile(job.file)
    if (mayArrive(context, job.file)) return { kind: 'waits', message: because('version_open') }
    if (inDoubt.length > 0) return ambiguous(context, parcel, because('older_version_alike'))
    const chosen = await choose(context, parcel, candidates, signal)
    if (chosen) return chosen
  }
  return null
}

/** Whether an upload of the file that is in doubt may still arrive. */
function mayArrive({ synced, clock, credentialLifetimeMs }: EngineContext, file: FileRow): boolean {
  const earliest = clock.monotonic() - mayArriveFor(credentialLifetimeMs)
  return synced.journal.openOnFile(file).some(({ sent_at }) => sent_at >= earliest)
}

/** Images that may be the picture. `isNamed`: they have the picture's own name. `isSized`: they may have its size too. */
interface Candidates {
  images: readonly UnrecordedImage[]
  isNamed: boolean
  isSized: boolean
}

function candidatesFor(
  context: EngineContext,
  { job, open, sent, picture, album }: Parcel,
  isNamed: boolean,
): Candidates {
  const { synced, contents } = context
  const { image: used } = job.file
  const name = imageNameOf(job.file.name)
  const isMadeAnew = isConverted(sent)
  const features = { name, size: sent.size, ...featuresOf(picture) }
  // Before a change of what is taken out, the file may have been sent as it lies there.
  const sizes = isMadeAnew ? [sent.size] : [sent.size, open.look.size]
  // Recorded images are removed once more, because recovery may have recorded some since the album was walked.
  const listed = isNamed
    ? contents.unrecorded(album, name)
    : contents.renamed(album, name).filter(image => !isNameOfAnother(synced, job.file, image))
  const named = unrecordedIn(synced, listed).filter(
    image =>
      canBe(image, features, { names: false, sizes: false }) && !synced.refuted.has(image.id, sent.hash),
  )
  const images = named.filter(image =>
    sizes.some(size => canBe(image, { ...features, size }, { names: false })),
  )
  // A host that alters pictures may list the size of the altered ones, so the size does not count then; nor of a JPEG that
  // another library may have made of the same HEIC.
  const isNew = () => used === null && synced.journal.openOnFile(job.file).length === 0
  const isOne = images.length > 0 || named.length === 0
  const isSized = isOne || !isNew() || (deliveryOf(synced, picture.mime) === 'as sent' && !isMadeAnew)
  return { images: isSized ? images : named, isNamed, isSized }
}

/** Whether an image is listed under the name of another picture in this folder that has no image yet. */
function isNameOfAnother({ files }: Synced, file: FileRow, { name, size }: UnrecordedImage): boolean {
  const other = name === undefined ? undefined : files.at({ ...file, name })
  return !!other && other.image === null && (size === undefined || sizeFits(size, other.size))
}

/** Whether the host may have made the image's name from that of another picture in this folder that has no image yet. */
function mayBeOfAnother({ files }: Synced, file: FileRow, { name, size }: UnrecordedImage): boolean {
  return files
    .ofFolder(file.folder)
    .some(
      other =>
        other.name !== file.name &&
        other.image === null &&
        (size === undefined || isHeicName(other.name) || sizeFits(size, other.size)) &&
        (name === undefined || changesOf(imageNameOf(other.name))(name)),
    )
}

async function choose(
  context: EngineContext,
  parcel: Parcel,
  candidates: Candidates,
  signal: AbortSignal,
): Promise<UploadResult | null> {
  const { synced, contents } = context
  const { job, sent, album } = parcel
  const { images, isNamed, isSized } = candidates
  const flat = flatness(synced, job.albumPath, album)
  // A picture is linked only to an image in its own album: the album above holds pictures of several folders, which may have
  // equal names. A file that uses an image keeps it until another one is proved, and is not linked either.
  const isAlone = images.length === 1 && flat === 0 && job.file.image === null
  const promisedMs = Math.max(...images.map(image => promisedFor(context, image, parcel)))
  const unknown: Reason[] = []
  for (const image of images) {
    // After a state loss, comparing would fetch everything. So a picture is linked where its bytes would show nothing more.
    const isShown = confirmedPattern(synced)?.addressOf(image.id, imageNameOf(job.file.name)) != null
    const compared: Comparison =
      isAlone && isNamed && isSized && promisedMs === 0 && !isShown && !isTold(context, parcel)
        ? { verdict: 'unknown', why: because('address_not_known') }
        : await compareOrLearn(context, parcel, image, signal)
    if (compared.verdict === 'equal' && contents.claim(album, image)) {
      const known = { cdn_url: compared.cdnUrl, proof: 'compared', flat } as const
      await record(context, parcel, image, known, compared.bytes)
      return { kind: 'unchanged', size: parcel.open.look.size, compared: true }
    }
    if (compared.verdict === 'unknown') unknown.push(compared.why)
    if (compared.verdict === 'other') await synced.commit(tx => tx.refuted.put(image.id, sent.hash))
  }
  if (promisedMs > 0 && !unknown.every(mayBeAltered)) {
    contents.forget(album?.id ?? null)
    return { kind: 'waits', message: because('perhaps_promised'), retryInMs: promisedMs }
  }
  return unknown.length === 0 ? null : linkOnly(context, parcel, candidates, isAlone, unknown)
}

/** Links the picture where only one image may be it. `unknown`: why the comparisons told nothing. */
async function linkOnly(
  context: EngineContext,
  parcel: Parcel,
  { images, isNamed, isSized }: Candidates,
  isAlone: boolean,
  unknown: readonly Reason[],
): Promise<UploadResult | null> {
  const { synced, contents } = context
  const { job, open, sent, picture, album } = parcel
  // Where the host is not known to alter pictures, another size shows that the picture was edited.
  const isMadeAnew = isConverted(sent)
  if (!isSized && !(isAlone && (isAltered(synced, picture.mime) || isMadeAnew))) return null
  // An equal name proves nothing, but sending the picture could make a second image of it.
  const isOnly = isAlone && (isNamed || !mayBeOfAnother(synced, job.file, images[0]!))
  if (isOnly && contents.claim(album, images[0]!)) {
    const { size = '' } = images[0]!
    const isWhole = !isMadeAnew && sizeFits(size, open.look.size) && !sizeFits(size, sent.size)
    const known = { cdn_url: null, proof: 'none', flat: 0 } as const
    await record(context, parcel, images[0]!, known, isWhole ? asItLies(open) : sent)
    return { kind: 'linked' }
  }
  const why = because('images_alike', { images: unknown.length, why: unknown[0]! })
  return ambiguous(context, parcel, why)
}

/** For how many milliseconds more the image may be listed without its bytes: a host may list an image from step 1 on, until the
 * credential has ended, so a walk of before must be made again. The listed size shows that the bytes are there, unless albumd may
 * have declared it. */
function promisedFor(
  context: EngineContext,
  { size, time, seen }: UnrecordedImage,
  { open, sent }: JobPicture,
): number {
  const { clock, credentialLifetimeMs } = context
  const isThere = sizeProves(size, sent.size) || sizeProves(size, open.look.size)
  if (isThere && !mayBePromised(context, seen)) return 0
  const mostMs = mayArriveFor(credentialLifetimeMs)
  const made = Date.parse(time ?? '')
  // A time that is further from then is that of a clock that was set; NaN, where none is listed.
  return Math.abs(seen - made) < mostMs ? Math.max(1, mostMs - (clock.wall() - made)) : 0
}

/** Whether the delivered image may tell more of the picture than the listing, or nobody knows that yet. */
function isTold({ synced }: EngineContext, { sent, picture }: Parcel): boolean {
  const delivery = deliveryOf(synced, picture.mime)
  return delivery === undefined ? !sent.bare : delivery === 'without metadata' || delivery === 'packed anew'
}

/** Compares. Until it is known what the host does to pictures of this type, other images in the album show it: this picture may
 * have been edited. */
async function compareOrLearn(
  context: EngineContext,
  parcel: Parcel,
  { id, size: listedSize }: UnrecordedImage,
  signal: AbortSignal,
): Promise<Comparison> {
  const { synced, contents } = context
  const {
    job: { file },
    picture: { mime },
    album,
  } = parcel
  const at = { remote_id: id, name: imageNameOf(file.name), listedSize }
  const compare = () => compareDelivered(context, at, knownOf(parcel), signal)
  const isKnown = deliveryOf(synced, mime) !== undefined
  const compared = await compare()
  const isSure = compared.verdict === 'other' || (compared.verdict === 'equal' && !isLess(compared.like))
  if (isKnown || isSure) return compared
  const others = unrecordedIn(synced, contents.all(album)).flatMap(image => {
    const other = image.name === undefined ? undefined : synced.files.at({ ...file, name: image.name })
    const isOther = other?.state === 'pending' && other.name !== file.name
    return isOther ? [{ image, file: other }] : []
  })
  await learnFromOthers(context, others, mime, signal)
  const holds =
    compared.verdict === 'equal' ? isIt(synced, mime, compared.like) : deliveryOf(synced, mime) === undefined
  return holds ? compared : compare()
}

/** Whether the image that a file uses has the file's bytes. The file was linked to it by name and has changed, or an upload of
 * another version is in doubt. Null: the picture must be sent. */
export async function adoptUsed(
  context: EngineContext,
  read: JobPicture,
  used: ImageRow,
  signal: AbortSignal,
): Promise<UploadResult | null> {
  const { synced } = context
  const { job, open, picture } = read
  if (mayArrive(context, job.file)) return { kind: 'waits', message: because('version_open') }
  const compared = await compareDelivered(context, used, knownOf(read), signal)
  if (compared.verdict === 'equal') {
    await synced.commit(tx => {
      proved(tx, used, compared.bytes, compared.cdnUrl, used.hash.equals(compared.bytes.hash))
      unchanged(tx, job, open, tx.images.byId(used.id)!, job.file.flat, momentOf(context))
    })
    return { kind: 'unchanged', size: open.look.size, compared: true }
  }
  const canBeIt = dimensionsFit(used, featuresOf(picture)) && !synced.resend.has(job.file)
  if (compared.verdict === 'other' || !canBeIt) return null
  const why = because('linked_image_alike', { why: compared.why })
  return ambiguous(context, read, why)
}

function ambiguous({ clock }: EngineContext, { open: { hash } }: JobPicture, message: Reason): UploadResult {
  return { kind: 'failed', code: 'AMBIGUOUS', message, retryAt: clock.wall() + HOUR_MS, hash }
}

/** `hash` and `size`: of what the image was sent as. Others than those that would be sent now are with metadata. */
async function record(
  context: EngineContext,
  parcel: Parcel,
  { id, album }: UnrecordedImage,
  known: Pick<Stored, 'cdn_url' | 'proof' | 'flat'>,
  { hash, size }: Bytes,
): Promise<void> {
  const isWhole = !hash.equals(parcel.sent.hash)
  const read = isWhole ? { ...parcel, sent: { ...asItLies(parcel.open), hash, size } } : parcel
  const note = isWhole && known.proof === 'compared' ? because('had_metadata') : null
  const data = await dataToRecord(context, read, known.proof === 'none')
  const at = { remote_id: id, album, data, note, ...known }
  return context.synced.commit(tx => stored(tx, parcel.job, read, at, momentOf(context)))
}

export interface Verified {
  /** How many images have the same bytes as their file. */
  equal: number
  /** How many images have other bytes than their file. The files of these images are uploaded. */
  other: number
  unknown: number
  /** Why the first of the `unknown` images can't be compared. Null: there is none. */
  why: Reason | null
}

/** Fetches every linked image and compares its bytes with those of its file. `between`: lets other work have its turn. */
export async function verifyLinks(
  context: RecordPort & DeliveryPort,
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

/** Fetches a linked image and compares its bytes. When they differ, its record is removed, and the file is uploaded. */
export async function verifyLink(
  context: RecordPort & DeliveryPort,
  image: ImageRow,
  signal: AbortSignal,
): Promise<Comparison> {
  const { synced, clock } = context
  const compared = await compareDelivered(context, image, pictureOf(synced, image), signal)
  if (compared.verdict === 'equal')
    await synced.commit(tx => proved(tx, image, compared.bytes, compared.cdnUrl, true))
  if (compared.verdict === 'other') await synced.commit(tx => refuted(tx, image, clock.wall()))
  return compared
}
