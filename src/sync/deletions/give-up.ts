import { countDeletion, needed, postponed, unproved } from '../../records/escrow.ts'
import { deleted, proved, refuted } from '../../records/images.ts'
import { isOfThisOne, wasNotDone } from '../../remote/failures.ts'
import type { HostFailure, ImageHost } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { Clock } from '../clock.ts'
import type { Interruption } from '../interruption.ts'
import { compareBytes } from '../listing/compare-bytes.ts'
import { ListedIds } from '../listing/listed-ids.ts'
import type { Tell } from '../pass-events.ts'
import { whyImageStays } from '../plan.ts'
import { verifyLink } from '../uploads/index.ts'

export interface GiveUpParts {
  synced: Synced
  host: ImageHost
  clock: Clock
  /** Running time in milliseconds. */
  running: () => number
  tell: Tell
  /** Looks at a file's place once more: why it can't be taken for gone, or null. Asked just before each deletion. */
  whyNotGone: (file: FileRow) => string | null
  /** The same for the place of an image that no record of a file stands on any more. */
  whyThere: (given: EscrowRow) => string | null
  /** Why nothing of the mirror that gives up may be deleted at this moment, or null. */
  doubt: () => string | null
  /** The images that were to be given up before everything was looked at again. */
  known: ReadonlySet<number>
}

/** Running time before an image that the host would not delete is tried again, in milliseconds. */
const POSTPONED_MS = 3_600_000

/**
 * Deletes the images that a mirror has given up, one by one, as far as nothing speaks against it.
 * Answers the host's failure that ended it early, or null.
 */
export async function giveUpImages(
  parts: GiveUpParts,
  mirror: { id: number; folder: string },
  { stop, cut }: Interruption,
): Promise<HostFailure | null> {
  const { synced, clock, running, tell, known } = parts
  const listed = new ListedIds(parts.host)
  for (const given of synced.escrow.ofMirror(mirror.id)) {
    if (stop.aborted) return null
    if (given.state === 'held' || running() < given.due_at || !known.has(given.image)) continue
    const image = synced.images.byId(given.image)!
    const stays = await whyKept(parts, given, image, listed, cut)
    if (stays) {
      tell({ event: 'image_kept', mirror: mirror.folder, path: given.path, reason: stays })
      continue
    }
    const refused = await deleteImage(parts, given, image, cut)
    if (!refused)
      tell({ event: 'image_deleted', mirror: mirror.folder, path: given.path, reason: given.reason })
    else if (!isOfThisOne(refused)) return refused
    else {
      await synced.commit(tx => {
        postponed(tx, given, running() + POSTPONED_MS, refused.message, clock.wall())
      })
      tell({ event: 'image_kept', mirror: mirror.folder, path: given.path, reason: refused.message })
    }
  }
  return null
}

const NEEDED = 'another file stands on the same image'
const KEPT = 'a backup keeps it'

/** Why an image is not deleted now, or null. What needs it takes it back. */
async function whyKept(
  parts: GiveUpParts,
  given: EscrowRow,
  image: ImageRow,
  listed: ListedIds,
  signal: AbortSignal,
): Promise<string | null> {
  const { synced } = parts
  await verifyMoves(parts, image, signal)
  const stays = whyStays(parts, image)
  if (stays === NEEDED || stays === KEPT)
    await synced.commit(tx => needed(tx, given, stays, parts.clock.wall()))
  if (stays) return stays
  const unproved =
    (await whyUnproved(parts, given, image, signal)) ??
    (await whyAnothers(parts, given, image, listed, signal))
  // To compare may have taken a while.
  return unproved ?? (image.proof === 'none' ? whyStays(parts, image) : null)
}

/**
 * Why an image may be another person's, or null. A host that has answered with other addresses than it had promised may
 * have answered an upload with an image of equal bytes that was there before: that one is not where ours would be.
 */
async function whyAnothers(
  { synced, running }: GiveUpParts,
  { state }: EscrowRow,
  image: ImageRow,
  listed: ListedIds,
  signal: AbortSignal,
): Promise<string | null> {
  if (state === 'approved' || synced.meta.get('promises') !== 'broken') return null
  const album = image.album === null ? null : synced.albums.byId(image.album)!.remote_id
  const found = await listed.has(album, image.remote_id, signal)
  if (found === true) return null
  if (found !== false)
    return found.remedy === 'plan' ? null : `its album can't be looked at: ${found.message}`
  await synced.commit(tx => unproved(tx, image.id, running() + POSTPONED_MS))
  return 'its album does not list it: it may be an image of equal bytes that another put elsewhere'
}

export function whyStays(
  { synced, whyNotGone, whyThere, doubt }: GiveUpParts,
  image: ImageRow,
): string | null {
  if (image.kept === 1) return KEPT
  const standing = synced.files.onImage(image.id)
  if (standing.some(file => file.state !== 'gone')) return NEEDED
  const moved = whyImageStays(image.hash, synced.files.openLike(image.hash, image.size))
  if (moved) return moved
  for (const file of standing) {
    const why = whyNotGone(file)
    if (why) return why
  }
  const given = synced.escrow.of(image.id)
  const there = standing.length === 0 && given?.reason === 'deleted' ? whyThere(given) : null
  if (there) return there
  return doubt()
}

/** A picture that moved may have been linked in its new place: before the old image goes, the new one is compared. */
async function verifyMoves(parts: GiveUpParts, image: ImageRow, signal: AbortSignal): Promise<void> {
  const { files, images } = parts.synced
  for (const { image: linked } of files.linkedTo(image.hash, image.size))
    if (linked !== null && linked !== image.id) await verifyLink(parts, images.byId(linked)!, signal)
}

/**
 * Why an image that was only linked may not go, or null: its bytes are compared first. Another's is forgotten; what can't
 * be compared waits for a person's word.
 */
async function whyUnproved(
  parts: GiveUpParts,
  { state }: EscrowRow,
  image: ImageRow,
  signal: AbortSignal,
): Promise<string | null> {
  const { synced, clock, running } = parts
  if (image.proof !== 'none' || state === 'approved') return null
  const compared = await compareBytes(parts, image, image, signal)
  await synced.commit(tx => {
    if (compared.verdict === 'equal') {
      proved(tx, image, image, compared.cdnUrl)
    } else if (compared.verdict === 'other') {
      refuted(tx, image, clock.wall())
    } else unproved(tx, image.id, running() + POSTPONED_MS)
  })
  if (compared.verdict === 'equal') return null
  return compared.verdict === 'other'
    ? 'its bytes are another picture: it is not ours'
    : `it was linked by its name alone, and its bytes can't be compared: ${compared.why}`
}

/** Answers the refusal, or null where the image is gone now. */
async function deleteImage(
  parts: GiveUpParts,
  given: EscrowRow,
  image: ImageRow,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  const { synced, host, clock, running } = parts
  const before = synced.journal.deletionOf(image.id)?.id
  const intent = before ?? (await synced.commit(tx => tx.journal.openImageDeletion(image.id, clock.wall())))
  const answer = await host.deleteImage(image.remote_id, signal, () => whyStays(parts, image) === null)
  const refusal = answer.ok || answer.failure.remedy === 'gone' ? null : answer.failure
  await synced.commit(tx => {
    if (refusal === null) {
      countDeletion(tx, given, running())
      deleted(tx, image, clock.wall())
    } else if (wasNotDone(refusal) && before === undefined) tx.journal.close(intent)
  })
  return refusal
}
