import type { HostFailure } from '../../remote/host.ts'
import { AlbumTree } from '../albums/album-tree.ts'
import type { Interruption } from '../interruption.ts'
import { QuotaLedger } from '../quota/quota-ledger.ts'
import type { ScannedMirror } from '../scan/mirror-scans.ts'
import { Uploader, type UploaderParts } from './upload.ts'
import { UploadQueue, type UploadQueueParts } from './upload-queue.ts'

export type SendPendingParts = Omit<
  UploaderParts & UploadQueueParts,
  'albums' | 'only' | 'quota' | 'uploader'
> & {
  /** True: pictures are linked to what the host holds already, and nothing is sent. */
  onlyAdopt?: boolean
  /** Finds out what became of the uploads in doubt. */
  findOut: () => Promise<unknown>
}

/** How often a pass goes on with its uploads once what was lost on the way is found. */
const ROUNDS = 3

/**
 * Sends what is pending. What was lost on the way is looked for at once: where that clears all doubt, sending goes on.
 * Answers what ended it early, or null.
 */
export async function sendPending(
  parts: SendPendingParts,
  scanned: readonly ScannedMirror[],
  interruption: Interruption,
): Promise<HostFailure | null> {
  const { synced, clock, contents, onlyAdopt = false } = parts
  // A person asks what the host holds now: what was seen there a while ago is no answer.
  if (onlyAdopt) contents.forgetAll()
  for (let round = 1; ; round++) {
    const began = clock.monotonic()
    const ended = await queueOf(parts, scanned, onlyAdopt ? 'adopt' : null).run(interruption)
    if (synced.journal.oldestInDoubt() === null || interruption.stop.aborted) return ended
    const inDoubt = synced.journal.openUploads().length
    await parts.findOut()
    const left = synced.journal.openUploads().length
    // The creation of an album that was just lost is looked for by the next search.
    const clearer = left < inDoubt || (synced.journal.newestCreation() ?? Number.NEGATIVE_INFINITY) >= began
    const mayGoOn = ended === null || (ended.remedy === 'find_out' && left === 0)
    if (round === ROUNDS || !clearer || !mayGoOn) return ended
  }
}

/** Uploads wait. What was touched and has the bytes of its image needs none, and waits for nothing. */
export async function comparePending(
  parts: SendPendingParts,
  scanned: readonly ScannedMirror[],
  { stop, makeWay = stop, cut }: Interruption,
): Promise<void> {
  await queueOf(parts, scanned, 'compare').run({ stop: AbortSignal.any([stop, makeWay]), cut })
}

function queueOf(
  parts: SendPendingParts,
  scanned: readonly ScannedMirror[],
  only: UploadQueueParts['only'],
): UploadQueue {
  const quota = new QuotaLedger(parts)
  const uploader = new Uploader({ ...parts, only, quota, albums: new AlbumTree(parts) })
  return new UploadQueue({ ...parts, only, quota, uploader }, scanned)
}
