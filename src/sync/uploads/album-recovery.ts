import type { ListedImage } from '../../protocol/records.ts'
import { found, neverArrived, type Stored } from '../../records/pictures.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { momentOf } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import { mayArriveFor } from '../credential-life.ts'
import { recordPlaces } from '../listing/album-places.ts'
import { compareBytes, confirmedPattern } from '../listing/compare-bytes.ts'
import { type Evidence, weighEvidence } from '../listing/evidence.ts'
import { namesAreKept, unaccountedIn } from '../listing/unaccounted.ts'
import { walkEverything, walkWhole } from '../listing/walk.ts'
import type { PassEvent } from '../pass-events.ts'
import { pathOf } from '../tree-path.ts'

/** `propagating`: the rows of the mirrors whose images may be deleted. */
export type Recovery = EngineContext & { propagating: ReadonlySet<number> }

/** So long after it was sent an upload is looked for in its album at once; then not before it can't arrive any more. */
export const EARLY_MS = 60_000

type Placed = ListedImage & { album: number | null }

/** conclusive: the walk was whole, and the upload can't arrive any more. delivered: its address gives its bytes. */
interface Looked extends WalkBefore {
  conclusive: boolean
  delivered: boolean
}

/** What the walk just before told, by the intents' numbers: one walk may miss what another shows. */
interface WalkBefore {
  /** The one image that can be it. */
  alike: Map<number, string>
  /** Those that it did not show, though it was whole and they can't arrive any more. */
  missed: Set<number>
}

/** How often an album is looked at to see it whole twice in a row. */
const LOOKS = 4

export async function lookAtAlbum(
  recovery: Recovery,
  album: number | null,
  /** The open uploads whose bytes are delivered: they arrived, and only the id is not known. */
  delivered: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, clock, credentialLifetimeMs } = recovery
  const ofAlbum = () => synced.journal.openUploads().filter(intent => intent.album === album)
  const before: WalkBefore = { alike: new Map(), missed: new Set() }
  for (let looks = 0; looks < LOOKS; looks++) {
    // Before the listing is asked for: what arrives while it comes in is no part of it.
    const now = clock.monotonic()
    const ended = ({ sent_at }: OpenUpload) => now - sent_at > mayArriveFor(credentialLifetimeMs)
    if (!ofAlbum().some(intent => ended(intent) || now - intent.sent_at < EARLY_MS)) return null
    const listed = await listedIn(recovery, album, signal)
    if (!listed.ok) return listed.failure
    const { images, complete, atOnce } = listed.value
    if (!atOnce) forget(before)
    const listing = {
      unaccounted: unaccountedIn(synced, images),
      pattern: confirmedPattern(recovery),
      promisesKept: synced.meta.get('promises') !== 'broken',
      namesKept: namesAreKept(synced, images),
    }
    for (const [intent, evidence] of weighEvidence(ofAlbum(), listing))
      await act(
        recovery,
        intent,
        evidence,
        { conclusive: complete && ended(intent), delivered: delivered.has(intent.id), ...before },
        signal,
      )
    const isSecond = looks > 0 && atOnce
    if (!complete || isSecond || !ofAlbum().some(ended)) return null
  }
  return null
}

/** A walk that was not whole came between: those on both sides of it may be of those that lack the same image. */
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
      const cdnUrl = intent.cdn_url ?? confirmedPattern(recovery)?.addressOf(id, intent.name) ?? null
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
  await synced.commit(tx => neverArrived(tx, intent, recovery.clock.wall()))
  // Were it there all the same, the album's next look would show it.
  recovery.contents.forget(intent.album)
  recovery.tell(told)
}

/** One image can be it. Answers whether nothing more is to be concluded from this walk. */
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
  // It arrived, and its address names this image, or nothing else has come that can be it.
  if (delivered && (conclusive || named)) {
    await record(recovery, intent, { remote_id: id, cdn_url: intent.cdn_url, album, proof: 'uploaded' })
    return true
  }
  const compared = await compareBytes(recovery, { remote_id: id, name: intent.name }, intent, signal)
  if (compared.verdict === 'other') return false
  if (compared.verdict === 'equal')
    await record(recovery, intent, { remote_id: id, cdn_url: compared.cdnUrl, album, proof: 'compared' })
  // Else ours may still arrive beside it, and an older version waits for proof.
  else if (conclusive && (recovery.synced.files.at(intent)?.image ?? null) === null)
    await record(recovery, intent, { remote_id: id, cdn_url: null, album, proof: 'none' })
  return true
}

/** Whether an address holds an id that is no chance. */
function namesId(address: string | null, id: string): boolean {
  return id.length >= 8 && (address?.includes(id) ?? false)
}

/** What is told of an upload. To be made before it is recorded, because a folder that nothing needs goes with the record. */
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

export async function record(recovery: Recovery, intent: OpenUpload, at: Stored): Promise<void> {
  const told = foundOut(recovery.synced, intent, true)
  const deletionsOf = (mirror: number) => (recovery.propagating.has(mirror) ? 'propagate' : 'keep')
  await recovery.synced.commit(tx => found(tx, intent, at, deletionsOf, momentOf(recovery)))
  recovery.tell(told)
}

/** An upload without an album may be in the root, in the account's default album or, where that is not known, anywhere. */
async function listedIn(
  { synced, host }: Recovery,
  album: number | null,
  signal: AbortSignal,
): Promise<Outcome<{ images: Placed[]; complete: boolean; atOnce: boolean }>> {
  if (album === null) {
    const everything = await walkEverything(host, signal)
    if (!everything.ok) return everything
    const places = await synced.commit(tx => recordPlaces(tx, everything.value))
    const images = everything.value.images.map(image => ({
      ...image,
      album: places.get(image.album) ?? null,
    }))
    const { complete, atOnce } = everything.value
    return { ok: true, value: { images, complete, atOnce } }
  }
  const walk = await walkWhole(host, synced.albums.byId(album)!.remote_id, signal)
  // Somebody deleted the album, with all that was in it.
  if (!walk.ok && walk.failure.remedy === 'gone')
    return { ok: true, value: { images: [], complete: true, atOnce: true } }
  if (!walk.ok) return walk
  const { images, complete, atOnce } = walk.value
  return { ok: true, value: { images: images.map(image => ({ ...image, album })), complete, atOnce } }
}
