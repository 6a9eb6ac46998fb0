import { HOUR_MS, type Millis } from '../../protocol/clock.ts'
import { countDeletion, graceOf, needed, postponed, unproved } from '../../records/escrow.ts'
import { deleted } from '../../records/images.ts'
import { movedTo } from '../../records/moves.ts'
import { stayed } from '../../records/waits.ts'
import { isOfThisOne } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, codeOf, type Reason, type ReasonCode } from '../../words/reasons.ts'
import type { DeliveryPort, EngineContext } from '../context.ts'
import { walkWhole } from '../listing/index.ts'
import type { Interruption } from '../pass-request.ts'
import { fileAt } from '../tree-path.ts'
import { verifyLink } from '../uploads/index.ts'
import { type Deletion, type DiskCheck, sendDelete, whyImageStays } from './send-delete.ts'

type DeletionContext = Pick<EngineContext, 'clock' | 'claims' | 'running' | 'emit'> & DeliveryPort

/** What decides about the deletions of a mirror. `known`: images that may be deleted, in escrow before the second scan. */
export interface DeletionRun {
  mirror: { id: number; folder: string }
  disk: DiskCheck
  known: ReadonlySet<number>
  /** When the pass began, by the wall clock. */
  began: Millis
}

/** What walks of albums have shown in this round of deletions, by the host's ids. Null is the root. */
type Walks = Map<string | null, Awaited<ReturnType<typeof walkWhole>>>

/** The reasons for which an image leaves escrow, because something needs it. */
const NEEDED: ReadonlySet<ReasonCode> = new Set(['in_use', 'kept_for_good', 'perhaps_anothers'])

/** Whether an image that stays for this reason leaves escrow, and its deletion is not tried again. */
export function endsDeletion(why: Reason): boolean {
  return NEEDED.has(codeOf(why))
}

/** For how many milliseconds of running time a deletion waits that the host has refused. */
const POSTPONED_MS = HOUR_MS

/** Deletes the images of a mirror whose grace is over, one by one. Returns the host's failure that ended it early, or null. */
export async function deleteImages(
  context: DeletionContext,
  run: DeletionRun,
  { stop, cut }: Interruption,
): Promise<HostFailure | null> {
  const { synced, clock, running, emit } = context
  const { id, folder: mirror } = run.mirror
  const walks: Walks = new Map()
  for (const entry of synced.escrow.ofMirror(id)) {
    if (stop.aborted) return null
    if (!isDue(context, run, entry)) continue
    const { path, reason } = entry
    const image = synced.images.byId(entry.image)!
    const stays = await whyStays(context, run, entry, image, walks, cut)
    if (stays) {
      if (stays !== entry.why) await synced.commit(tx => stayed(tx, entry.image, stays, clock.wall()))
      emit({ event: 'image_kept', mirror, path, reason: stays })
      continue
    }
    const moved_to = movedTo(synced, image)?.told ?? null
    const refusal = await deleteImage(context, run, entry, image, walks, cut)
    if (!refusal) emit({ event: 'image_deleted', mirror, path, reason, moved_to })
    else if (!isOfThisOne(refusal)) return refusal
    else {
      const why = refusal.message
      await synced.commit(tx => postponed(tx, entry, running() + POSTPONED_MS, why, clock.wall()))
      emit({ event: 'image_kept', mirror, path, reason: because('deletion_refused', { why }) })
    }
  }
  return null
}

/** Whether the image's grace is over, the pass means it, and it was in escrow before the second scan. */
function isDue(
  { running }: Pick<EngineContext, 'running'>,
  { known, began }: Pick<DeletionRun, 'known' | 'began'>,
  entry: EscrowRow,
): boolean {
  const grace = graceOf(entry, running(), began)
  return entry.state !== 'held' && grace !== 'runs' && grace !== 'clock' && known.has(entry.image)
}

/** Why an image is not deleted now, or null. When something needs the image, it is taken out of escrow. */
async function whyStays(
  context: DeletionContext,
  { disk }: DeletionRun,
  entry: EscrowRow,
  image: ImageRow,
  walks: Walks,
  signal: AbortSignal,
): Promise<Reason | null> {
  const { synced, clock } = context
  await verifyMoves(context, image, signal)
  const stays = whyImageStays(context, image, disk)
  if (stays && endsDeletion(stays)) await synced.commit(tx => needed(tx, entry, stays, clock.wall()))
  if (stays) return stays
  const notProved =
    (await whyUnproved(context, entry, image, signal)) ??
    (await whyAnothers(context, entry, image, walks, signal))
  // Fetching and comparing the bytes takes a while, so the questions are asked again.
  return notProved ?? (image.proof === 'none' ? whyImageStays(context, image, disk) : null)
}

/** Why an image may be another person's, or null. Where `promises_broken` is set, the host may have answered an upload with
 * another person's image of equal bytes, which the upload's album does not list. */
async function whyAnothers(
  { synced, host, running }: DeletionContext,
  { state }: EscrowRow,
  image: ImageRow,
  walks: Walks,
  signal: AbortSignal,
): Promise<Reason | null> {
  if (state === 'approved' || synced.meta.get('promises_broken') === null) return null
  const walk = await walkOf({ synced, host }, image, walks, signal)
  if (walk.ok && walk.value.images.some(({ id }) => id === image.remote_id)) return null
  if (!walk.ok && walk.failure.remedy !== 'gone')
    return walk.failure.remedy === 'plan' ? null : because('album_not_listed', { why: walk.failure.message })
  await synced.commit(tx => unproved(tx, image.id, running() + POSTPONED_MS))
  return because('not_in_its_album')
}

/** A walk of the image's album, made once in a round of deletions. */
async function walkOf(
  { synced, host }: Pick<DeletionContext, 'synced' | 'host'>,
  image: ImageRow,
  walks: Walks,
  signal: AbortSignal,
): ReturnType<typeof walkWhole> {
  const album = image.album === null ? null : synced.albums.byId(image.album)!.remote_id
  const walk = walks.get(album) ?? (await walkWhole(host, album, signal))
  walks.set(album, walk)
  return walk
}

/** Compares the bytes of linked images before `image` is deleted. Its picture may have moved, and the new file be linked by name
 * alone to an image with other bytes. Then `image` is still needed. */
async function verifyMoves(context: DeletionContext, image: ImageRow, signal: AbortSignal): Promise<void> {
  const { files, images } = context.synced
  for (const { image: linked } of files.linkedLike(image))
    await verifyLink(context, images.byId(linked!)!, signal)
}

/** Why an image that was only linked may not be deleted, or null. Where its bytes can't be compared, a person must approve. */
async function whyUnproved(
  context: DeletionContext,
  { state }: EscrowRow,
  image: ImageRow,
  signal: AbortSignal,
): Promise<Reason | null> {
  const { synced, running } = context
  if (image.proof !== 'none' || state === 'approved') return null
  const compared = await verifyLink(context, image, signal)
  if (compared.verdict === 'equal') return null
  if (compared.verdict === 'other') return because('bytes_differ')
  await synced.commit(tx => unproved(tx, image.id, running() + POSTPONED_MS))
  return because('bytes_not_compared', { why: compared.why })
}

/** Whether a newer image of the picture has the same name in the same album. */
function isBesideNewer(synced: Synced, { mirror, path }: EscrowRow, { id, name, album }: ImageRow): boolean {
  const newer = synced.images.byId(fileAt(synced, mirror, path)?.image ?? id)
  return newer !== undefined && newer.id !== id && newer.name === name && newer.album === album
}

/** Deletes an image. Returns the host's refusal, or null when the image is gone. */
function deleteImage(
  context: DeletionContext,
  { disk }: DeletionRun,
  entry: EscrowRow,
  image: ImageRow,
  walks: Walks,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, clock, running } = context
  const before = synced.journal.deletionOf(image.id)
  const deletion: Deletion = {
    target: { image: image.remote_id },
    intend: tx => void (before ?? tx.journal.openImageDeletion(image.id, clock.wall())),
    whyNot: () => whyImageStays(context, image, disk),
    async isGone() {
      // A new image may be listed late, and one that was sent without an album may be in the default album.
      const isYoung = Math.abs(clock.wall() - image.recorded_at) < HOUR_MS
      if (isYoung || (image.album === null && synced.meta.get('default_album') !== '')) return false
      const walk = await walkOf(context, image, walks, signal)
      if (!walk.ok) return walk.failure.remedy === 'gone'
      return walk.value.settled && walk.value.images.every(({ id }) => id !== image.remote_id)
    },
    done(tx, wasThere) {
      if (wasThere && isBesideNewer(synced, entry, image)) tx.meta.set('versions_apart', true)
      countDeletion(tx, entry, running())
      deleted(tx, image, clock.wall())
    },
    // The intent of an earlier request stays open, because the host may have carried that request out.
    notDone: tx => before ?? tx.journal.forgetImage(image.id),
  }
  return sendDelete(context, deletion, signal)
}
