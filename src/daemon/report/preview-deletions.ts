import { held, takenBack } from '../../records/escrow.ts'
import { type HoldPolicy, isTooMuch, WINDOW_MS } from '../../sync/deletions/index.ts'
import type { ScannedMirror } from '../../sync/scan/index.ts'
import { FoundElsewhere } from '../../sync/scan/index.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow, EscrowWeight } from '../../synced/tables/escrow.ts'
import type { Operation } from './preview-operations.ts'

/** What a pass would have sent of one mirror before it weighs the deletions. */
export interface SupposedUploads {
  /** Pictures that have no image yet. */
  added: number
  /** Paths whose present image becomes an older version. */
  replaced: string[]
}

const WHY = { deleted: 'gone from the disk', superseded: 'an older version', ignored: 'ignored' }

/**
 * What would become of the images that the mirrors give up, weighed as a pass would weigh them: after its uploads.
 * Works on a state that is thrown away.
 */
export async function* previewDeletions(
  synced: Synced,
  scanned: readonly ScannedMirror[],
  uploadsOf: (mirror: string) => SupposedUploads,
  hold: HoldPolicy,
  running: number,
): AsyncGenerator<Operation> {
  // Each picture found accounts for one that was lost, in whatever mirror.
  const elsewhere = new FoundElsewhere(synced, new Set(), new Set())
  for (const { row, policy } of scanned) {
    if (policy.deletions === 'keep') continue
    const mirror = { id: row.id, folder: policy.folder }
    const uploads = uploadsOf(policy.folder)
    const moved = await takeMoved(synced, row.id, elsewhere)
    const isHeld = await weigh(synced, mirror, uploads, hold, running)
    for (const { path, state } of moved) yield moveInWords(policy.folder, path, state)
    yield* left(synced, mirror, running)
    if (isHeld)
      for (const path of uploads.replaced)
        yield { operation: 'hold', mirror: policy.folder, path, reason: WHY.superseded }
  }
}

function moveInWords(mirror: string, path: string, state: EscrowRow['state']): Operation {
  return state === 'held'
    ? { operation: 'hold', mirror, path, reason: WHY.deleted }
    : { operation: 'delete', mirror, path, reason: 'moved: only once it is uploaded elsewhere' }
}

/** What is in the escrow and no move accounts for. */
function* left(
  synced: Synced,
  { id, folder: mirror }: { id: number; folder: string },
  running: number,
): Generator<Operation> {
  for (const { image, path, reason, state, due_at } of synced.escrow.ofMirror(id)) {
    const isKept = synced.images.byId(image)?.kept === 1
    const stands = isKept || synced.files.onImage(image).some(file => file.state !== 'gone')
    if (state === 'held' || state === 'unproved')
      yield { operation: 'hold', mirror, path, reason: WHY[reason] }
    else if (!stands && due_at <= running) yield { operation: 'delete', mirror, path, reason: WHY[reason] }
  }
}

/**
 * Takes those out of the escrow whose pictures only moved, as far as one can tell without reading them: a file of the
 * same size and modification time has yet to find its image. The hold does not count them.
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

/** Answers whether everything that is pending would be held. */
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
