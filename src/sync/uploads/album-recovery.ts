import { DAY_MS } from '../../protocol/clock.ts'
import { imageNameOf } from '../../protocol/formats.ts'
import type { ListedImage } from '../../protocol/records.ts'
import { refuted, replaced } from '../../records/images.ts'
import { type Failed, found, neverArrived, type Stored } from '../../records/pictures.ts'
import { locationOf } from '../../records/versions.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { reasonIn } from '../../words/reasons.ts'
import { albumPathOf, flatness } from '../album.ts'
import { mayArriveFor, momentOf } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import {
  compareDelivered,
  delivers,
  deliveryOf,
  isAltered,
  type KnownPicture,
  pictureOf,
  sentFor,
} from '../delivered/index.ts'
import {
  confirmedPattern,
  type Evidence,
  namesAreKept,
  recordAlbums,
  sizeFits,
  sizeProves,
  unrecordedIn,
  type WholeWalk,
  walkEverything,
  walkWhole,
  weighEvidence,
} from '../listing/index.ts'
import type { PassEvent } from '../pass-events.ts'
import { afterRefusalMs } from './upload-job.ts'

/** `propagating`: the rows of the mirrors that delete images. The others keep them. */
export type Recovery = EngineContext & { propagating: ReadonlySet<number> }

type Placed = ListedImage & { album: number | null }

/** What is known of an upload besides the evidence.
 * images: all that the walk showed.
 * ended: the upload can't arrive any more.
 * conclusive: the same, and the walk was complete.
 * delivered: the promised address gives the upload's bytes, so the upload has arrived. */
interface Looked extends WalkBefore {
  images: readonly Placed[]
  ended: boolean
  conclusive: boolean
  delivered: boolean
}

/** What the previous walk showed. Two walks are compared, because one walk may miss an image. */
interface WalkBefore {
  /** The id of the only image that can be an upload's, by the row of the upload's intent. */
  alike: Map<number, string>
  /** Intents whose image the previous, complete walk did not show after the upload could not arrive any more. */
  missed: Set<number>
}

/** A version of a picture. */
type Version = Pick<ImageRow, 'size' | 'mime'>

/** How long after it was sent an upload that no walk shows has surely not arrived, whatever the host counts. */
const COUNTED_MS = DAY_MS

/** How often an album is walked at most until two walks in a row are complete. */
const LOOKS = 4

export async function lookAtAlbum(
  recovery: Recovery,
  album: number | null,
  /** The rows of open uploads whose bytes the host delivers. They have arrived, but their ids are not known. */
  delivered: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, clock, credentialLifetimeMs } = recovery
  const ofAlbum = () => synced.journal.openUploads().filter(intent => intent.album === album)
  const before: WalkBefore = { alike: new Map(), missed: new Set() }
  for (let looks = 0; looks < LOOKS; looks++) {
    // The time is taken before the walk, which may miss an image that arrives during it.
    const now = clock.monotonic()
    const ended = ({ sent_at }: OpenUpload) => now - sent_at > mayArriveFor(credentialLifetimeMs)
    if (ofAlbum().length === 0) return null
    const listed = await listedIn(recovery, album, signal)
    if (!listed.ok) return listed.failure
    const { images, complete, settled, atOnce } = listed.value
    const isWhole = ({ sent_at }: OpenUpload) => complete || (settled && now - sent_at > COUNTED_MS)
    // Two walks prove something only without an incomplete one between them. The last two of a settled look showed the same.
    const follows = atOnce || (settled && !complete)
    if (!follows) forget(before)
    const listing = {
      unrecorded: unrecordedIn(synced, images),
      pattern: confirmedPattern(recovery.synced),
      promisesKept: synced.meta.get('promises_broken') === null,
      namesKept: namesAreKept(synced, images),
      isAltered: (mime: string) => isAltered(synced, mime),
      despiteSize: (image: ListedImage, intent: OpenUpload) => despiteSize(recovery, image, intent),
    }
    for (const [intent, evidence] of weighEvidence(ofAlbum(), listing))
      await act(
        recovery,
        intent,
        evidence,
        {
          images,
          ended: ended(intent),
          conclusive: isWhole(intent) && ended(intent),
          delivered: delivered.has(intent.id),
          ...before,
        },
        signal,
      )
    const isSecond = looks > 0 && follows
    if (isSecond || !ofAlbum().some(intent => ended(intent) && isWhole(intent))) return null
  }
  return null
}

/** Whether an image with another listed size may still be an upload's: it came when the upload could, and the host may list the
 * size of what it has made of the picture. What it delivers then tells. A file that uses an image would wait for ever. */
function despiteSize(
  { synced, credentialLifetimeMs }: Recovery,
  image: ListedImage,
  intent: OpenUpload,
): boolean {
  const isNew = (synced.files.at(intent)?.image ?? null) === null
  const apartMs = Math.abs(Date.parse(image.time ?? '') - intent.since)
  return isNew && apartMs <= mayArriveFor(credentialLifetimeMs)
}

/** Forgets the previous walk. While others change an album, images move from page to page, and the walks before and after an
 * incomplete one may miss the same image. */
function forget({ alike, missed }: WalkBefore): void {
  alike.clear()
  missed.clear()
}

async function act(
  recovery: Recovery,
  intent: OpenUpload,
  evidence: Evidence<Placed>,
  looked: Looked,
  signal: AbortSignal,
): Promise<void> {
  const { synced } = recovery
  const { conclusive, delivered } = looked
  switch (evidence.kind) {
    case 'exact': {
      const { id, album } = evidence.image
      if (!isThere(intent, evidence.image, looked)) return
      const cdnUrl =
        intent.cdn_url ?? confirmedPattern(recovery.synced)?.addressOf(id, imageNameOf(intent.name)) ?? null
      return record(recovery, intent, { remote_id: id, cdn_url: cdnUrl, album, proof: 'uploaded' })
    }
    case 'alike':
      if (await actOnAlike(recovery, intent, evidence.image, looked, signal)) return
      break
    case 'unclear':
      looked.alike.delete(intent.id)
      return
  }
  if (!conclusive) return
  if (!looked.missed.has(intent.id)) return void looked.missed.add(intent.id)
  const isTaken = isAcknowledged(synced, intent)
  // The host has the picture, but not as the image that the credential named. The next walk looks at others too.
  if (isTaken && !delivered && intent.cdn_url !== null && synced.meta.get('promises_broken') === null)
    return synced.commit(tx => tx.meta.set('promises_broken', true))
  if (await foundInItsOwn(recovery, intent, signal, { isTaken, listed: looked.images })) return
  // What the host has taken would be taken again and again. It stays in doubt, until it shows or a person has it sent again.
  if (delivered || isTaken) return
  const emitted = foundOut(synced, intent, false)
  const now = recovery.clock.wall()
  const refusal = failureByProxy(synced, intent, now)
  const image = synced.images.byId(synced.files.at(intent)?.image ?? 0)
  const isApart = !!image && isListedAs(synced, image, looked.images, [image, intent])
  await synced.commit(tx => neverArrived(tx, intent, now, { refusal, isApart }))
  // The next upload walks the album again, which shows the image if it has arrived after all.
  recovery.contents.forget(intent.album)
  recovery.emit(emitted)
}

/** Whether the image that the credential named has its bytes. A host may list it from step 1 on, with the declared size, until
 * the credential has ended. Where no size shows it, two complete walks must show the image. */
function isThere(
  intent: OpenUpload,
  { id, size }: Placed,
  { ended, conclusive, delivered, alike }: Looked,
): boolean {
  if (delivered || (ended && sizeProves(size, intent.size))) return true
  const isSeenAgain = conclusive && alike.get(intent.id) === id
  if (conclusive) alike.set(intent.id, id)
  return isSeenAgain
}

/** Whether the host has answered that it has the upload, but not as which image. */
function isAcknowledged({ failures, files }: Synced, intent: OpenUpload): boolean {
  const doubt = failures.doubt(intent.folder, intent.name)
  const isOfIt = files.at(intent)?.hash?.equals(intent.file_hash) === true
  return isOfIt && doubt !== undefined && reasonIn(doubt, 'answer_without_id') !== null
}

/** The failure of an upload that a proxy refused with a page of its own, as it would again, and that has not arrived; or null. */
function failureByProxy({ failures }: Synced, intent: OpenUpload, now: number): Failed | null {
  const { folder, name, file_hash: hash } = intent
  const doubt = failures.doubt(folder, name)
  const message = doubt === undefined ? null : reasonIn(doubt, 'refused_by_node')
  if (message === null) return null
  const retryAt = now + afterRefusalMs(failures.ofUpload(intent)?.refusals ?? 0)
  return { code: 'HOST_ANSWER', message, retryAt, hash, isRefused: true }
}

/** Decides about an upload when exactly one listed image can be its. Returns false when that image has other bytes. */
async function actOnAlike(
  recovery: Recovery,
  intent: OpenUpload,
  { id, album, size }: Placed,
  { conclusive, delivered, alike }: Looked,
  signal: AbortSignal,
): Promise<boolean> {
  const isSeenAgain = alike.get(intent.id) === id
  if (conclusive) alike.set(intent.id, id)
  // The upload has arrived. The image is its: no other image comes into question.
  if (delivered && conclusive) {
    if (isSeenAgain)
      await record(recovery, intent, { remote_id: id, cdn_url: intent.cdn_url, album, proof: 'uploaded' })
    return true
  }
  const compared = await compareDelivered(
    recovery,
    { remote_id: id, name: imageNameOf(intent.name), listedSize: size },
    sentFor(intent),
    signal,
  )
  const isEqual = compared.verdict === 'equal' && compared.bytes.hash.equals(intent.hash)
  if (compared.verdict === 'other' || (compared.verdict === 'equal' && !isEqual)) return false
  if (compared.verdict === 'equal')
    await record(recovery, intent, { remote_id: id, cdn_url: compared.cdnUrl, album, proof: 'compared' })
  // Until two walks agree, the upload may arrive as another image. A file that uses an image keeps it until another is proved.
  else if (
    conclusive &&
    (isSeenAgain || sizeProves(size, intent.size)) &&
    (recovery.synced.files.at(intent)?.image ?? null) === null
  )
    await record(recovery, intent, { remote_id: id, cdn_url: null, album, proof: 'none' })
  return true
}

/** The event of an outcome. Made before the outcome is recorded, which may remove the folder's row. */
function foundOut(synced: Synced, intent: OpenUpload, arrived: boolean): PassEvent {
  const { mirror, path } = locationOf(synced, intent)
  const { folder } = synced.mirrors.byId(mirror)!
  return { event: 'upload_found_out', mirror: folder, path, name: intent.name, arrived }
}

/** Whether the file's own image has the upload, because the host put the new version into it under the same id. If so, records the
 * upload as this image. `isTaken`: the host has the upload, but shows no image for it. Then what the host has made of the bytes
 * counts too. Where nothing tells, the image is linked, because it is the only one of this name. */
export async function foundInItsOwn(
  recovery: Recovery,
  intent: OpenUpload,
  signal: AbortSignal,
  {
    isIt = () => true,
    isTaken = false,
    listed = [],
  }: { isIt?: (image: ImageRow) => boolean; isTaken?: boolean; listed?: readonly Placed[] } = {},
): Promise<boolean> {
  const { synced, host } = recovery
  const image = synced.images.byId(synced.files.at(intent)?.image ?? 0)
  if (!image || image.name !== imageNameOf(intent.name) || image.album !== intent.album) return false
  if (image.hash.equals(intent.hash) || synced.files.onImage(image.id).length > 1 || !isIt(image))
    return false
  const { remote_id, cdn_url, album } = image
  const gives = async (known: KnownPicture) =>
    cdn_url !== null && (await delivers(recovery, cdn_url, known, signal))
  const isGiven = async () => {
    if (cdn_url === null) return false
    if (isListedAs(synced, image, listed, [intent, image])) return true
    // Only equal bytes count, because an edit of metadata does not change the image data.
    const given = await host.fetchDelivered(cdn_url, intent.size, signal)
    return given.ok && given.status === 200 && given.sha256.equals(intent.hash)
  }
  const isUnseen = isTaken && deliveryOf(synced, intent.mime) !== 'as sent'
  const isProved = (await isGiven()) || (isUnseen && (await gives(sentFor(intent))))
  const isLeft = isTaken && listed.some(({ id }) => id === remote_id)
  const mayBeLinked = isLeft && synced.meta.get('versions_apart') === null
  if (!isProved && (!mayBeLinked || (await gives(pictureOf(synced, image))))) return false
  await record(recovery, intent, { remote_id, cdn_url, album, proof: isProved ? 'uploaded' : 'none' })
  return true
}

/** Whether an image is listed with the size of one version, and not of the other. */
function isListedAs(
  synced: Synced,
  { remote_id }: ImageRow,
  listed: readonly Placed[],
  versions: readonly [Version, Version],
): boolean {
  const [one, other] = versions
  const size = listed.find(({ id }) => id === remote_id)?.size
  // A host that alters pictures may list the sizes of what it has made of them.
  if (size === undefined || versions.some(({ mime }) => isAltered(synced, mime))) return false
  return sizeProves(size, one.size) && !sizeFits(size, other.size)
}

export async function record(
  recovery: Recovery,
  intent: OpenUpload,
  at: Omit<Stored, 'flat' | 'note'>,
): Promise<void> {
  const { synced } = recovery
  const emitted = foundOut(synced, intent, true)
  const deletionsOf = (mirror: number) => (recovery.propagating.has(mirror) ? 'propagate' : 'keep')
  // The picture lies flat unless the album that it was sent into, or the one that lists it, is its own.
  const flat = [intent.album, at.album].every(album => isFlatIn(synced, intent, album)) ? 1 : 0
  await synced.commit(tx => {
    const before = tx.images.byRemoteId(at.remote_id)
    if (before && !before.hash.equals(intent.hash))
      (before.proof === 'none' ? refuted : replaced)(tx, before, recovery.clock.wall())
    found(tx, intent, { ...at, flat }, deletionsOf, momentOf(recovery))
  })
  recovery.emit(emitted)
}

function isFlatIn(synced: Synced, { folder }: OpenUpload, album: number | null): boolean {
  const { mirror, path } = synced.folders.byId(folder)!
  const albumPath = albumPathOf(synced.mirrors.byId(mirror)!.album, path)
  return flatness(synced, albumPath, album === null ? null : synced.albums.byId(album)!) === 1
}

/** The images among which the upload's image may be. An upload without an album may be in the root, in the account's default
 * album, or in any album while the default album is not known (§4.1). */
async function listedIn(
  { synced, host }: Recovery,
  album: number | null,
  signal: AbortSignal,
): Promise<Outcome<Pick<WholeWalk, 'complete' | 'settled' | 'atOnce'> & { images: Placed[] }>> {
  const row = album === null ? null : synced.albums.byId(album)!
  const walk = row ? await walkWhole(host, row.remote_id, signal) : await walkEverything(host, signal)
  // The album was deleted with all its images.
  if (!walk.ok && walk.failure.remedy === 'gone' && row)
    return { ok: true, value: { images: [], complete: true, settled: true, atOnce: true } }
  if (!walk.ok) return walk
  const places = row ? null : await synced.commit(tx => recordAlbums(tx, walk.value))
  const images = walk.value.images.map(image => ({
    ...image,
    album: places ? (places.get(image.album) ?? null) : album,
  }))
  return { ok: true, value: { ...walk.value, images } }
}
