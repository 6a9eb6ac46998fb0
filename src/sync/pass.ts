import type { EngineContext } from './context.ts'
import { deleteDueImages, deleteUnusedAlbums, recoverAlbumDeletions } from './deletions/index.ts'
import type { Pass, PassReport, PassRequest } from './pass-request.ts'
import { reviewAccount } from './quota/index.ts'
import { recordPass } from './record-pass.ts'
import { scanMirrors } from './scan/index.ts'
import { recoverUploads, uploadPending } from './uploads/index.ts'

/**
 * One pass. The uploads come before the deletions, so that a picture that moved has its new image before its old image
 * is deleted.
 */
export async function runPass(context: EngineContext, request: PassRequest): Promise<PassReport> {
  const { scopeOf = () => 'everything', task = 'mirror' } = request
  const pass: Pass = { ...request, scopeOf, task, stopped: [], notRecovered: null }
  await reviewAccount(context, pass)
  await recoverUploads(context, pass)
  await recoverAlbumDeletions(context, pass)
  const scanned = await scanMirrors(context, pass)
  await uploadPending(context, pass, scanned)
  await deleteDueImages(context, pass, scanned)
  await deleteUnusedAlbums(context, pass)
  await recordPass(context, pass)
  return { stopped: pass.stopped }
}
