import { kept } from '../../records/escrow.ts'
import { remedyOfCode } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import { endsByItself } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { endingForNews, isNamed, type Pass } from '../pass-request.ts'
import { checkRootsAgain, type ScannedMirror, scanEverythingAgain } from '../scan/index.ts'
import { fullPath } from '../tree-path.ts'
import { uploadPending } from '../uploads/index.ts'
import { deleteImages } from './delete-images.ts'
import { doubtAbout, weighDeletions, whyNoDeletions } from './hold.ts'
import { LastCheck } from './last-check.ts'

/** Deletes the images whose grace is over. Scans everything again first: a picture may have moved into a folder that was looked
 * at before, and is then uploaded before its old image is deleted. Pictures that only this scan missed wait for the next pass.
 * The task `retry` deletes only images whose deletion the host has refused before. */
export async function deleteDueImages(
  context: EngineContext,
  pass: Pass,
  before: readonly ScannedMirror[],
): Promise<void> {
  const { synced } = context
  const { mirrors, interruption, task, stopped } = pass
  if (task !== 'mirror' && task !== 'retry') return
  for (const mirror of before) if (mirror.policy.deletions === 'keep') await keepAll(context, mirror)
  await weighDeletions(context, pass, before)
  const due = synced.escrow.nextDue(
    before.map(({ row }) => row.id),
    pass.began,
  )
  if (due === null || due > context.running() || interruption.makeWay?.aborted) return
  // The second scan is made only when something may be deleted after it.
  const doubt = whyNoDeletions(context, mirrors)
  if (doubt !== null && !endsByItself(doubt)) return
  // When the plan refused a deletion, the pass asked for no other. A later refusal may be an answer to a retry. So deletions that
  // were due since the first refusal may never have been asked for.
  const refusal = synced.account
    .blocks()
    .find(({ endpoint, code }) => endpoint === 'delete' && remedyOfCode(code) === 'plan')
  const isMeant = ({ postponed, since }: EscrowRow) =>
    task === 'mirror' || postponed === 1 || (refusal !== undefined && since <= refusal.since)
  const known = new Set(
    before.flatMap(({ row }) =>
      synced.escrow
        .ofMirror(row.id)
        .filter(entry => isMeant(entry) && isNamed(pass.named, fullPath(row.folder, entry.path)))
        .map(({ image }) => image),
    ),
  )
  if (known.size === 0) return
  const scanned = await uploadPending(context, pass, await scanEverythingAgain(context, pass))
  await checkRootsAgain(context, scanned)
  if (doubtAbout(synced, mirrors) !== null) return
  for (const mirror of scanned) {
    const failure = await deleteOfMirror(context, pass, mirror, scanned, known)
    if (failure) stopped.push(failure)
  }
}

/** The mirror keeps images by now, so the images that waited for their deletion stay for good. */
async function keepAll({ synced, clock }: EngineContext, { row }: ScannedMirror): Promise<void> {
  const images = synced.escrow.ofMirror(row.id).map(({ image }) => image)
  if (images.length > 0) await synced.commit(tx => kept(tx, images, clock.wall()))
}

async function deleteOfMirror(
  context: EngineContext,
  pass: Pass,
  mirror: ScannedMirror,
  scanned: readonly ScannedMirror[],
  known: ReadonlySet<number>,
): Promise<HostFailure | null> {
  const interruption = endingForNews(pass.interruption)
  await weighDeletions(context, pass, [mirror])
  const named = { id: mirror.row.id, folder: mirror.policy.folder }
  const run = { mirror: named, disk: new LastCheck(context, scanned), known, began: pass.began }
  return deleteImages(context, run, interruption)
}
