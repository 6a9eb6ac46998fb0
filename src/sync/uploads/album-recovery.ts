import type { ListedImage } from '../../protocol/records.ts'
import { refuted } from '../../records/images.ts'
import { type Failed, found, neverArrived, type Stored } from '../../records/pictures.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { reasonIn } from '../../words/reasons.ts'
import { albumPathOf, liesFlat } from '../album.ts'
import { mayArriveFor, momentOf } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import {
  compareBytes,
  confirmedPattern,
  type Evidence,
  namesAreKept,
  recordAlbums,
  unrecordedIn,
  type WholeWalk,
  walkEverything,
  walkWhole,
  weighEvidence,
} from '../listing/index.ts'
import type { PassEvent } from '../pass-events.ts'
import { pathOf } from '../tree-path.ts'
import { afterNodeMs } from './node-refusals.ts'

/** `propagating`: the rows of the mirrors whose images may be deleted. */
export type Recovery = EngineContext & { propagating: ReadonlySet<number> }

/**
 * How long after it was sent an upload is looked for in its album. After this time the next look comes when the upload can't
 * arrive any more.
 */
export const EARLY_MS = 60_000

type Placed = ListedImage & { album: number | null }

/**
 * What one walk, and the look at the delivery address, show besides the evidence. conclusive: the walk was complete, and the
 * upload can't arrive any more. delivered: the promised address gives the upload's bytes, so the upload has arrived.
 */
interface Looked extends WalkBefore {
  conclusive: boolean
  delivered: boolean
}

/** What the previous walk showed, by the row of the intent. Two walks are compared, because one walk may miss an image. */
interface WalkBefore {
  /** The id of the only image that can be the upload. */
  alike: Map<number, string>
  /** The intents whose image the previous walk did not show, although it was complete and they can't arrive any more. */
  missed: Set<number>
}

/**
 * A day after it was sent, an upload counts as missing also when the host counts more images than its pages show, and several
 * walks show the same. Either this host always counts wrongly, or an image that it lists late would be listed by now.
 */
const COUNTED_MS = 86_400_000

/** How many walks of an album are tried to get two complete walks in a row. */
const LOOKS = 4

export async function lookAtAlbum(
  recovery: Recovery,
  album: number | null,
  /** The open uploads whose bytes are delivered. These uploads have arrived, and only the ids of their images are not known. */
  delivered: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, clock, credentialLifetimeMs } = recovery
  const ofAlbum = () => synced.journal.openUploads().filter(intent => intent.album === album)
  const before: WalkBefore = { alike: new Map(), missed: new Set() }
  for (let looks = 0; looks < LOOKS; looks++) {
    // The time is taken before the walk, because an image that arrives during the walk may be missing in it.
    const now = clock.monotonic()
    const ended = ({ sent_at }: OpenUpload) => now - sent_at > mayArriveFor(credentialLifetimeMs)
    if (!ofAlbum().some(intent => ended(intent) || now - intent.sent_at < EARLY_MS)) return null
    const listed = await listedIn(recovery, album, signal)
    if (!listed.ok) return listed.failure
    const { images, complete, settled, atOnce } = listed.value
    const isWhole = ({ sent_at }: OpenUpload) => complete || (settled && now - sent_at > COUNTED_MS)
    // Walks that do not fit the host's count are settled when the last two of them showed the same.
    const follows = atOnce || (settled && !complete)
    if (!follows) forget(before)
    const listing = {
      unrecorded: unrecordedIn(synced, images),
      pattern: confirmedPattern(recovery.synced),
      promisesKept: synced.meta.get('promises_broken') === null,
      namesKept: namesAreKept(synced, images),
    }
    for (const [intent, evidence] of weighEvidence(ofAlbum(), listing))
      await act(
        recovery,
        intent,
        evidence,
        { conclusive: isWhole(intent) && ended(intent), delivered: delivered.has(intent.id), ...before },
        signal,
      )
    const isSecond = looks > 0 && follows
    if (isSecond || !ofAlbum().some(intent => ended(intent) && isWhole(intent))) return null
  }
  return null
}

/**
 * Two walks prove that an image is missing only when they follow each other directly. An example: while others change the
 * album, images move from page to page, and a walk that reads page 2 too late misses one of them. When an incomplete walk
 * lies between two complete walks, both may have missed the same image.
 */
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
      const cdnUrl = intent.cdn_url ?? confirmedPattern(recovery.synced)?.addressOf(id, intent.name) ?? null
      return record(recovery, intent, { remote_id: id, cdn_url: cdnUrl, album, proof: 'uploaded' })
    }
    case 'alike':
      if (await actOnAlike(recovery, intent, evidence.image, looked, signal)) return
      break
    case 'unclear':
      looked.alike.delete(intent.id)
      return
  }
  if (!conclusive || delivered) return
  if (!looked.missed.has(intent.id)) return void looked.missed.add(intent.id)
  const told = foundOut(synced, intent, false)
  const now = recovery.clock.wall()
  await synced.commit(tx => neverArrived(tx, intent, now, refusalOf(synced, intent, now)))
  // The album is walked again before the next upload. If the image has arrived after all, that walk shows it.
  recovery.contents.forget(intent.album)
  recovery.tell(told)
}

/**
 * The refusal of an upload that has not arrived, and which a proxy in front of the upload node has answered with a page of its
 * own. The proxy would refuse the picture again, so the picture waits as after a refusal by the node. Null in all other cases.
 */
function refusalOf({ failures }: EngineContext['synced'], intent: OpenUpload, now: number): Failed | null {
  const { folder, name, hash } = intent
  const doubt = failures.doubt(folder, name)
  const message = doubt === undefined ? null : reasonIn(doubt, 'refused_by_node')
  if (message === null) return null
  const retryAt = now + afterNodeMs(failures.attempts(folder, name) ?? 0)
  return { code: 'HOST_ANSWER', message, retryAt, hash }
}

/** Exactly one listed image can be the upload. Answers false when this image proved to have other bytes. */
async function actOnAlike(
  recovery: Recovery,
  intent: OpenUpload,
  { id, album }: Placed,
  { conclusive, delivered, alike }: Looked,
  signal: AbortSignal,
): Promise<boolean> {
  const named = namesId(intent.cdn_url, id)
  const isSeenAgain = alike.get(intent.id) === id
  if (conclusive) alike.set(intent.id, id)
  if (delivered && conclusive && !named && !isSeenAgain) return true
  // The upload has arrived. And either its address holds this image's id, or two walks showed no other image that can be the
  // upload.
  if (delivered && (conclusive || named)) {
    await record(recovery, intent, { remote_id: id, cdn_url: intent.cdn_url, album, proof: 'uploaded' })
    return true
  }
  const compared = await compareBytes(recovery, { remote_id: id, name: intent.name }, intent, signal)
  if (compared.verdict === 'other') return false
  if (compared.verdict === 'equal')
    await record(recovery, intent, { remote_id: id, cdn_url: compared.cdnUrl, album, proof: 'compared' })
  // The image is linked only after a conclusive walk, because before, the upload may still arrive beside this image. And it
  // is linked only to a file without an image, because a file that uses an image keeps it until another image is proved.
  else if (conclusive && (recovery.synced.files.at(intent)?.image ?? null) === null)
    await record(recovery, intent, { remote_id: id, cdn_url: null, album, proof: 'none' })
  return true
}

/** Whether an address holds an id that is too long to be there by chance. */
function namesId(address: string | null, id: string): boolean {
  return id.length >= 8 && (address?.includes(id) ?? false)
}

/**
 * The event that tells what became of an upload. It is made before the outcome is recorded, because recording may remove the
 * folder's row.
 */
function foundOut(
  { folders, mirrors }: EngineContext['synced'],
  { folder, name }: OpenUpload,
  arrived: boolean,
): PassEvent {
  const { mirror, path } = folders.byId(folder)!
  return {
    event: 'upload_found_out',
    mirror: mirrors.byId(mirror)!.folder,
    path: pathOf(path, name),
    name,
    arrived,
  }
}

export async function record(
  recovery: Recovery,
  intent: OpenUpload,
  at: Omit<Stored, 'flat'>,
): Promise<void> {
  const { synced } = recovery
  const told = foundOut(synced, intent, true)
  const deletionsOf = (mirror: number) => (recovery.propagating.has(mirror) ? 'propagate' : 'keep')
  // A picture that was sent into its own album does not lie flat, also when the host put it into another album.
  const flat = [intent.album, at.album].every(album => isFlatIn(synced, intent, album)) ? 1 : 0
  await synced.commit(tx => {
    const before = tx.images.byRemoteId(at.remote_id)
    if (before && !before.hash.equals(intent.hash)) refuted(tx, before, recovery.clock.wall())
    found(tx, intent, { ...at, flat }, deletionsOf, momentOf(recovery))
  })
  recovery.tell(told)
}

function isFlatIn(
  { folders, mirrors, albums }: EngineContext['synced'],
  { folder }: OpenUpload,
  album: number | null,
): boolean {
  const { mirror, path } = folders.byId(folder)!
  const albumPath = albumPathOf(mirrors.byId(mirror)!.album, path)
  return liesFlat({ albums }, albumPath, album === null ? null : albums.byId(album)!)
}

/**
 * The images among which the upload may be. An upload without an album may be in the root, in the account's default album, or
 * anywhere while the default album is not known (§4.1).
 */
async function listedIn(
  { synced, host }: Recovery,
  album: number | null,
  signal: AbortSignal,
): Promise<Outcome<Pick<WholeWalk, 'complete' | 'settled' | 'atOnce'> & { images: Placed[] }>> {
  if (album === null) {
    const everything = await walkEverything(host, signal)
    if (!everything.ok) return everything
    const places = await synced.commit(tx => recordAlbums(tx, everything.value))
    const images = everything.value.images.map(image => ({
      ...image,
      album: places.get(image.album) ?? null,
    }))
    const { complete, settled, atOnce } = everything.value
    return { ok: true, value: { images, complete, settled, atOnce } }
  }
  const walk = await walkWhole(host, synced.albums.byId(album)!.remote_id, signal)
  // When the album was deleted, all that was in it is gone too.
  if (!walk.ok && walk.failure.remedy === 'gone')
    return { ok: true, value: { images: [], complete: true, settled: true, atOnce: true } }
  if (!walk.ok) return walk
  const { images, complete, settled, atOnce } = walk.value
  return {
    ok: true,
    value: { images: images.map(image => ({ ...image, album })), complete, settled, atOnce },
  }
}
