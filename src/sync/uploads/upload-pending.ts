import type { HostFailure } from '../../remote/host.ts'
import { AlbumTree } from '../albums/index.ts'
import type { EngineContext } from '../context.ts'
import { endingForOthers, type Pass } from '../pass-request.ts'
import { QuotaLedger } from '../quota/index.ts'
import { type ScannedMirror, scanMirrors } from '../scan/index.ts'
import { Lanes } from './lanes.ts'
import { findOut, inDoubt } from './recovery.ts'
import { Uploader } from './upload.ts'
import type { Only } from './upload-job.ts'
import { UploadQueue } from './upload-queue.ts'

/** When the answer of an upload is lost, a pass looks for the upload and begins another round of uploads. A pass makes at
 * most so many rounds. */
const ROUNDS = 3

/** Uploads the pending files of the scanned mirrors. Returns the mirrors as the last scan saw them, because what becomes
 * stale is scanned beside the uploads. When uploads must wait, two kinds of pictures are still read: pictures that may have
 * the bytes of their image, and new pictures that may have the bytes of an image that no file uses. Reading asks the host
 * for nothing. It shows whether a picture is on the host already, and whether an image is still needed, so neither waits for
 * quota or for the end of an outage. */
export async function uploadPending(
  context: EngineContext,
  pass: Pass,
  before: readonly ScannedMirror[],
): Promise<readonly ScannedMirror[]> {
  const { task, stopped, interruption } = pass
  if (task === 'look') return before
  // A failure that has ended uploads earlier in this pass would end them again. Outside of `uploads.hours` no upload
  // begins.
  const mayBegin = stopped.length === 0 && !interruption.pauseUploads?.aborted
  const { ended, scanned } = mayBegin
    ? await sendPending(context, pass, before)
    : { ended: null, scanned: before }
  if (ended) stopped.push(ended)
  const isAllSent = ended === null && mayBegin && !pass.named
  if (isAllSent || task === 'adopt') return scanned
  const { stop, cut } = endingForOthers(interruption)
  await queueOf(context, pass, scanned, 'compare').run({ stop, cut })
  return scanned
}

/** Sends the pending files. When the answer of an upload is lost, the upload is looked for at once, and when its outcome is
 * found out, sending goes on. `ended`: the failure that ended the uploads early, or null. */
async function sendPending(
  context: EngineContext,
  pass: Pass,
  before: readonly ScannedMirror[],
): Promise<{ ended: HostFailure | null; scanned: readonly ScannedMirror[] }> {
  const { clock, contents } = context
  const { journal } = context.synced
  const isAdopting = pass.task === 'adopt'
  // A person asks what the host holds now, so albums that were walked before are walked once more.
  if (isAdopting) contents.forgetAll()
  // A command that names its pictures sends no others, so nothing is scanned beside its uploads.
  const scan = pass.named
    ? undefined
    : (scopeOf: Pass['scopeOf']) => scanMirrors(context, { ...pass, scopeOf })
  let scanned = before
  for (let round = 1; ; round++) {
    const began = clock.monotonic()
    const queue = queueOf(context, pass, scanned, isAdopting ? 'adopt' : null)
    const ended = await queue.run(pass.interruption, scan)
    scanned = queue.scanned
    const open = inDoubt(context, pass).length
    if (open === 0 || pass.interruption.stop.aborted) return { ended, scanned }
    await findOut(context, pass)
    const left = inDoubt(context, pass).length
    // Another round makes sense when fewer uploads are in doubt, or when the answer to the creation of an album was lost,
    // because the next upload into this album looks for the album.
    const clearer = left < open || (journal.newestCreation() ?? Number.NEGATIVE_INFINITY) >= began
    const mayGoOn = ended === null || (ended.remedy === 'find_out' && left === 0)
    if (round === ROUNDS || !clearer || !mayGoOn) return { ended, scanned }
  }
}

function queueOf(
  context: EngineContext,
  { named, underWay }: Pass,
  scanned: readonly ScannedMirror[],
  only: Only | null,
): UploadQueue {
  const quota = new QuotaLedger(context)
  const albums = new AlbumTree(context)
  const lanes = new Lanes(context.concurrency, underWay)
  const run = { ...context, only, named, underWay, quota, albums, lanes }
  return new UploadQueue({ ...run, uploader: new Uploader(run) }, scanned)
}
