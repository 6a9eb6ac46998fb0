import type { HostFailure } from '../../remote/host.ts'
import { AlbumTree } from '../albums/index.ts'
import type { EngineContext } from '../context.ts'
import { endingForOthers, type Pass } from '../pass-request.ts'
import { QuotaLedger } from '../quota/index.ts'
import type { ScannedMirror } from '../scan/index.ts'
import { findOut } from './recovery.ts'
import { Uploader } from './upload.ts'
import { type Only, Turns } from './upload-job.ts'
import { UploadQueue } from './upload-queue.ts'

/** How often a pass goes on with its uploads after an upload's answer was lost. */
const ROUNDS = 3

/**
 * Uploads the pending files of the scanned mirrors. While uploads must wait, the bytes of pictures are still read that were
 * only touched, or that the picture of a deleted image may have moved to. That asks the host for nothing, and no deletion
 * waits for the quota.
 */
export async function uploadPending(
  context: EngineContext,
  pass: Pass,
  scanned: readonly ScannedMirror[],
): Promise<void> {
  const { task, stopped, interruption } = pass
  if (task === 'look') return
  // What ended the uploads a moment ago would end them again, and outside their hours they do not begin.
  const mayBegin = stopped.length === 0 && !interruption.pauseUploads?.aborted
  const ended = mayBegin ? await sendPending(context, pass, scanned) : null
  if (ended) stopped.push(ended)
  if ((ended === null && mayBegin) || task === 'adopt') return
  const { stop, cut } = endingForOthers(interruption)
  await queueOf(context, scanned, 'compare').run({ stop, cut })
}

/**
 * When an upload's answer is lost, it is looked for at once. Where that clears the doubt, sending goes on. Answers what
 * ended the uploads early, or null.
 */
async function sendPending(
  context: EngineContext,
  pass: Pass,
  scanned: readonly ScannedMirror[],
): Promise<HostFailure | null> {
  const { clock, contents } = context
  const { journal } = context.synced
  const isAdopting = pass.task === 'adopt'
  // A person asks what the host holds now, so what was seen there a while ago is no answer.
  if (isAdopting) contents.forgetAll()
  for (let round = 1; ; round++) {
    const began = clock.monotonic()
    const ended = await queueOf(context, scanned, isAdopting ? 'adopt' : null).run(pass.interruption)
    if (journal.oldestInDoubt() === null || pass.interruption.stop.aborted) return ended
    const inDoubt = journal.openUploads().length
    await findOut(context, pass)
    const left = journal.openUploads().length
    // An album's creation whose answer was lost is looked for when the album is needed next.
    const clearer = left < inDoubt || (journal.newestCreation() ?? Number.NEGATIVE_INFINITY) >= began
    const mayGoOn = ended === null || (ended.remedy === 'find_out' && left === 0)
    if (round === ROUNDS || !clearer || !mayGoOn) return ended
  }
}

function queueOf(context: EngineContext, scanned: readonly ScannedMirror[], only: Only | null): UploadQueue {
  const quota = new QuotaLedger(context)
  const run = { ...context, only, quota, albums: new AlbumTree(context), turns: new Turns() }
  return new UploadQueue({ ...run, uploader: new Uploader(run) }, scanned)
}
