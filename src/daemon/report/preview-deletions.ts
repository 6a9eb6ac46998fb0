import { held, takenBack } from '../../records/escrow.ts'
import { type HoldPolicy, isTooMuch, WINDOW_MS, whyImageStays } from '../../sync/deletions/index.ts'
import { FoundElsewhere, type ScannedMirror } from '../../sync/scan/index.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow, EscrowWeight } from '../../synced/tables/escrow.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import { WHY_IN_ESCROW } from '../../words/why-in-escrow.ts'

/** One thing that the next pass would do, and why. Paths are below the mirror's folder. `R`: a reason, or its words. */
export type Operation<R = string> =
  | { operation: 'upload'; mirror: string; path: string; size: number; reason: R }
  /** The image of the older version is deleted once the new image is on the host. */
  | { operation: 'replace'; mirror: string; path: string; size: number; reason: R }
  /** The file is read and hashed. It is uploaded only when its bytes are new. */
  | { operation: 'compare'; mirror: string; path: string; size: number; reason: R }
  | { operation: 'delete'; mirror: string; path: string; reason: R }
  /** The image would be deleted, but a person must approve the deletion first. */
  | { operation: 'hold'; mirror: string; path: string; reason: R }
  | { operation: 'use_album'; mirror: string; album: string; reason: R }
  | { operation: 'none'; mirror: string; reason: R }

/** What a pass would upload from one mirror before it decides about deletions. */
export interface SupposedUploads {
  /** Pictures that have no image yet. */
  added: number
  /** Paths of pictures whose image would become the image of an older version. */
  replaced: string[]
}

/**
 * What would become of the images in escrow. The hold is asked as a pass would ask it: after the uploads. Works on a copy of
 * the state that is thrown away.
 */
export async function* previewDeletions(
  synced: Synced,
  scanned: readonly ScannedMirror[],
  uploadsOf: (mirror: string) => SupposedUploads,
  hold: HoldPolicy,
  running: number,
): AsyncGenerator<Operation<Reason>> {
  // Each new picture, in whatever mirror, can be one picture that is gone from its place.
  const elsewhere = new FoundElsewhere(synced, new Set(), new Set())
  for (const { row, policy } of scanned) {
    if (policy.deletions === 'keep') continue
    const mirror = { id: row.id, folder: policy.folder }
    const uploads = uploadsOf(policy.folder)
    const moved = await takeMoved(synced, row.id, elsewhere)
    const isHeld = await weigh(synced, mirror, uploads, hold, running)
    for (const { path, state } of moved) yield moveOf(policy.folder, path, state)
    yield* remaining(synced, mirror, running)
    if (isHeld)
      for (const path of uploads.replaced)
        yield { operation: 'hold', mirror: policy.folder, path, reason: WHY_IN_ESCROW.superseded }
  }
}

function moveOf(mirror: string, path: string, state: EscrowRow['state']): Operation<Reason> {
  return state === 'held'
    ? { operation: 'hold', mirror, path, reason: WHY_IN_ESCROW.deleted }
    : { operation: 'delete', mirror, path, reason: because('moved_upload_first') }
}

/** The deletions of images whose pictures have not moved. */
function* remaining(
  synced: Synced,
  { id, folder: mirror }: { id: number; folder: string },
  running: number,
): Generator<Operation<Reason>> {
  for (const { image, path, reason, state, due_at } of synced.escrow.ofMirror(id)) {
    const why = whyImageStays(synced, synced.images.byId(image)!, null)
    const stays = why !== null && codeOf(why) !== 'may_have_moved'
    if (state === 'held' || state === 'unproved')
      yield { operation: 'hold', mirror, path, reason: WHY_IN_ESCROW[reason] }
    else if (!stays && due_at <= running)
      yield { operation: 'delete', mirror, path, reason: WHY_IN_ESCROW[reason] }
  }
}

/**
 * Takes images out of escrow whose pictures seem to have moved: a file of the same size and modification time has no image
 * yet. The hold does not count these images.
 */
async function takeMoved(synced: Synced, mirror: number, elsewhere: FoundElsewhere): Promise<EscrowRow[]> {
  const moved = synced.escrow.ofMirror(mirror).filter(({ image, reason }) => {
    const lost = synced.files.onImage(image).filter(({ state }) => state === 'gone')
    return reason === 'deleted' && elsewhere.notFound(lost) < lost.length
  })
  await synced.commit(tx => {
    for (const { image } of moved) takenBack(tx, image)
  })
  return moved
}

/** Answers whether all pending deletions would be held. */
async function weigh(
  synced: Synced,
  mirror: { id: number; folder: string },
  { added, replaced }: SupposedUploads,
  policy: HoldPolicy,
  running: number,
): Promise<boolean> {
  const after: EscrowWeight = synced.escrow.weight(mirror.id, running - WINDOW_MS)
  after.pending += replaced.length
  after.in_use += added
  if (!isTooMuch(after, policy)) return false
  await synced.commit(tx => held(tx, mirror.id, 0))
  return true
}
