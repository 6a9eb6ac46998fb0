import type { ListedImage } from '../../protocol/records.ts'
import { deleted, lost } from '../../records/images.ts'
import { isOfThisOne } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because } from '../../words/reasons.ts'
import { type Deletion, sendDelete, whyImageStays } from '../deletions/index.ts'
import { walkEverything } from '../listing/index.ts'
import type { Interruption } from '../pass-request.ts'
import {
  type AlbumLook,
  type AuditContext,
  listingChanges,
  lookAtAlbum,
  lookOf,
  notDelivered,
  unsureFor,
} from './audit.ts'
import { compareAlbum, isLeftOver, NOW, recordsOf } from './audit-album.ts'

/** `repaired`: the findings that are settled. `withheld`: how many images are too many to delete without asking a person. */
export interface Repairs {
  repaired: Finding[]
  withheld: number
  /** The host's failure that ended the repair early, or null. */
  stopped: HostFailure | null
}

/** Walks again, and records that the images of `gone` findings are lost. The next pass uploads their pictures. */
export async function repairGone(context: AuditContext, { stop, cut }: Interruption): Promise<Repairs> {
  const { synced } = context
  const repairs: Repairs = { repaired: [], withheld: 0, stopped: null }
  /** The ids of all images that the host lists in any album. */
  let listed: ReadonlySet<string> | undefined
  const findings = synced.audit.findings().filter(({ kind }) => kind === 'gone')
  for (const [album, ofAlbum] of Map.groupBy(findings, finding => finding.album)) {
    if (stop.aborted) return repairs
    const look = await lookForMissing(context, album, cut)
    if (look.kind === 'failed') return { ...repairs, stopped: look.failure }
    if (look.kind === 'unknown') continue
    const missing = await notDelivered(context, look.missing, cut)
    if (missing.length > 0 && !listed) {
      // The image may be in an album without a record: the host once denied an album, and albumd created a second one.
      const everywhere = lookOf(await walkEverything(context.host, cut))
      if (everywhere.kind === 'failed') return { ...repairs, stopped: everywhere.failure }
      if (everywhere.kind === 'unknown') return repairs
      listed = new Set(everywhere.images.map(({ id }) => id))
    }
    const gone = new Map(
      missing.filter(({ remote_id }) => !listed?.has(remote_id)).map(image => [image.remote_id, image]),
    )
    const unsure = new Set(
      missing.filter(image => unsureFor(context, image) > 0).map(({ remote_id }) => remote_id),
    )
    await synced.commit(tx => {
      // A person may have put another image in place of the lost one, so the next upload looks at the album again.
      tx.contents.forgetAlbum(album)
      for (const finding of ofAlbum) {
        if (unsure.has(finding.remote_id)) continue
        const image = gone.get(finding.remote_id)
        if (image) lost(tx, image, context.clock.wall())
        tx.audit.remove('gone', finding.remote_id)
        repairs.repaired.push(finding)
      }
    })
    context.contents.forget(album)
  }
  return repairs
}

/** How often an album is walked at most until two walks in a row are complete. */
const LOOKS = 4

/** The recorded images that two complete walks in a row did not show: one of a host's machines may not know an image yet. */
async function lookForMissing(
  context: AuditContext,
  album: number | null,
  signal: AbortSignal,
): Promise<{ kind: 'whole'; missing: readonly ImageRow[] } | Exclude<AlbumLook, { kind: 'whole' }>> {
  let before: ReadonlySet<number> | null = null
  for (let looks = 0; looks < LOOKS; looks++) {
    const look = await lookAtAlbum(context, album, signal)
    if (look.kind !== 'whole') return look
    const records = recordsOf(context.synced, album, NOW, context.clock.wall())
    const { missing } = compareAlbum(look.images, records)
    const lacked = before
    if (lacked && look.atOnce) return { kind: 'whole', missing: missing.filter(({ id }) => lacked.has(id)) }
    before = new Set(missing.map(({ id }) => id))
  }
  return listingChanges
}

/** Walks again, and deletes albumd's own images of `twice` findings. Deletes none when there are more than `most`. */
export async function deleteTwice(
  context: AuditContext,
  most: number,
  interruption: Interruption,
  mayGo: () => boolean,
): Promise<Repairs> {
  const { synced } = context
  const repairs: Repairs = { repaired: [], withheld: 0, stopped: null }
  const ours = synced.audit
    .findings()
    .filter(finding => finding.kind === 'twice' && isOurs(synced, finding.remote_id))
  if (ours.length > most) return { ...repairs, withheld: ours.length }
  for (const [album, findings] of Map.groupBy(ours, finding => finding.album)) {
    if (interruption.stop.aborted) return repairs
    const look = await lookAtAlbum(context, album, interruption.cut)
    if (look.kind === 'failed') return { ...repairs, stopped: look.failure }
    if (look.kind === 'unknown') continue
    for (const finding of findings) {
      const failure = await deleteOne(context, finding, look.images, interruption, mayGo)
      if (failure === null) repairs.repaired.push(finding)
      else if (failure !== 'kept' && !isOfThisOne(failure)) return { ...repairs, stopped: failure }
    }
  }
  return repairs
}

/** Returns null when the finding is settled, 'kept' when the image may not be deleted now, or the host's refusal. */
async function deleteOne(
  context: AuditContext,
  finding: Finding,
  listed: readonly ListedImage[],
  { stop, cut }: Interruption,
  mayGo: () => boolean,
): Promise<HostFailure | 'kept' | null> {
  const { synced } = context
  // A host may give the id of a deleted image to a new one, perhaps to that of an upload in doubt.
  if (stop.aborted || !mayGo() || synced.journal.openUploads().length > 0) return 'kept'
  const compared = compareAlbum(listed, recordsOf(synced, finding.album, NOW, context.clock.wall()))
  const still = compared.findings.some(
    ({ kind, remote_id }) => kind === 'twice' && remote_id === finding.remote_id,
  )
  const shown = listed.find(({ id }) => id === finding.remote_id)
  if (still)
    return isOurs(synced, finding.remote_id, shown) ? deleteImage(context, finding, cut, mayGo) : 'kept'
  await synced.commit(tx => tx.audit.remove('twice', finding.remote_id))
  return null
}

/** Whether the image is albumd's: a record names its id, or albumd deleted it before. `shown`: how it is listed now. */
export function isOurs(synced: Synced, remote_id: string, shown?: ListedImage): boolean {
  if (synced.images.byRemoteId(remote_id) !== undefined) return true
  return shown ? isLeftOver(synced, shown) : synced.deleted.at(remote_id) !== undefined
}

/** Returns the host's refusal, or null when the image is gone. */
function deleteImage(
  context: AuditContext,
  { remote_id }: Finding,
  signal: AbortSignal,
  mayGo: () => boolean,
): Promise<HostFailure | null> {
  const { synced, clock } = context
  const image = synced.images.byRemoteId(remote_id)
  const before = image && synced.journal.deletionOf(image.id)
  const isOpened = image !== undefined && before === undefined
  const deletion: Deletion = {
    target: { image: remote_id },
    intend: tx => void (isOpened && tx.journal.openImageDeletion(image.id, clock.wall())),
    // Without a record, the image was deleted by albumd before, and nothing can need it.
    whyNot: () => (mayGo() ? (image ? whyImageStays(context, image, null) : null) : because('paused')),
    done(tx) {
      if (image) deleted(tx, image, clock.wall())
      else tx.deleted.put(remote_id, clock.wall())
      tx.audit.remove('twice', remote_id)
    },
    notDone: tx => void (isOpened && tx.journal.forgetImage(image.id)),
  }
  return sendDelete(context, deletion, signal)
}
