import type { ListedImage } from '../../protocol/records.ts'
import { deleted, lost } from '../../records/images.ts'
import { isOfThisOne } from '../../remote/failures.ts'
import type { HostFailure, ImageHost } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Finding, FindingKind } from '../../synced/tables/audit.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because } from '../../words/reasons.ts'
import { type Deletion, sendDelete, whyImageStays } from '../deletions/index.ts'
import { walkEverything } from '../listing/index.ts'
import type { Interruption } from '../pass-request.ts'
import { type AuditParts, notDelivered } from './audit.ts'
import { compareAlbum } from './audit-album.ts'
import { type AlbumLook, listingChanges, lookAtAlbum, lookOf } from './audit-look.ts'
import { isLeftOver, NOW, recordsOf } from './audit-records.ts'

export type RepairParts = Omit<AuditParts, 'gapMs' | 'progress'>

/** `repaired`: findings that are none any more. `withheld`: deletions that are too many to be done unasked. */
export interface Repairs {
  repaired: Finding[]
  withheld: number
  /** The host's answer that ended it early, or null. */
  stopped: HostFailure | null
}

/**
 * Forgets images that are gone, each album walked anew: their files wait for their upload again, which is the next
 * pass's. Nothing is changed on the host.
 */
export async function repairGone(parts: RepairParts, { stop, cut }: Interruption): Promise<Repairs> {
  const { synced } = parts
  const repairs: Repairs = { repaired: [], withheld: 0, stopped: null }
  let anywhere: IdsAnywhere | null = null
  for (const [album, findings] of byAlbum(synced, 'gone')) {
    if (stop.aborted) return repairs
    const look = await lookForMissing(parts, album, cut)
    if (look.kind === 'failed') return { ...repairs, stopped: look.failure }
    if (look.kind === 'unknown') continue
    const missing = await notDelivered(parts, look.missing, cut)
    if (missing.length > 0) anywhere ??= await idsAnywhere(parts.host, cut)
    const listed = anywhere ?? NOWHERE
    if (listed.kind === 'failed') return { ...repairs, stopped: listed.failure }
    if (listed.kind === 'unknown') continue
    const gone = new Map(
      missing.filter(({ remote_id }) => !listed.ids.has(remote_id)).map(image => [image.remote_id, image]),
    )
    await synced.commit(tx => {
      // An unrecorded image of the album may be what a person put in the place of the image that is gone.
      tx.contents.forgetAlbum(album)
      for (const finding of findings) {
        const image = gone.get(finding.remote_id)
        if (image) lost(tx, image, parts.clock.wall())
        tx.audit.remove('gone', finding.remote_id)
        repairs.repaired.push(finding)
      }
    })
  }
  return repairs
}

/** The ids of all images that the host lists in any album. */
type IdsAnywhere = { kind: 'whole'; ids: ReadonlySet<string> } | Exclude<AlbumLook, { kind: 'whole' }>

const NOWHERE: IdsAnywhere = { kind: 'whole', ids: new Set() }

/** An album that the host once denied was made anew: what was in the first may be there all the same. */
async function idsAnywhere(host: ImageHost, signal: AbortSignal): Promise<IdsAnywhere> {
  const look = lookOf(await walkEverything(host, signal))
  return look.kind === 'whole' ? { kind: 'whole', ids: new Set(look.images.map(({ id }) => id)) } : look
}

/** How often an album is looked at to see it whole twice in a row. */
const LOOKS = 4

/**
 * What is recorded in an album, and two whole walks in a row do not show: one may come from a machine that has not heard
 * of it, and so may every other.
 */
async function lookForMissing(
  parts: RepairParts,
  album: number | null,
  signal: AbortSignal,
): Promise<{ kind: 'whole'; missing: readonly ImageRow[] } | Exclude<AlbumLook, { kind: 'whole' }>> {
  let before: ReadonlySet<number> | null = null
  for (let looks = 0; looks < LOOKS; looks++) {
    const look = await lookAtAlbum(parts, album, signal)
    if (look.kind !== 'whole') return look
    const records = recordsOf(parts.synced, album, NOW, parts.clock.wall())
    const { missing } = compareAlbum(look.images, records)
    const lacked = before
    if (lacked && look.atOnce) return { kind: 'whole', missing: missing.filter(({ id }) => lacked.has(id)) }
    before = new Set(missing.map(({ id }) => id))
  }
  return listingChanges
}

/**
 * Deletes what is there twice, as far as the records know its id as ours: what albumd deleted before, and an image that
 * no file needs beside the one that stands. Each album is walked once more. More than `most` are not deleted at all, and
 * before each one `mayGo` is asked.
 */
export async function deleteTwice(
  parts: RepairParts,
  most: number,
  interruption: Interruption,
  mayGo: () => boolean = () => true,
): Promise<Repairs> {
  const { synced } = parts
  const repairs: Repairs = { repaired: [], withheld: 0, stopped: null }
  const ours = synced.audit.findings().filter(finding => finding.kind === 'twice' && isOurs(synced, finding))
  if (ours.length > most) return { ...repairs, withheld: ours.length }
  for (const [album, findings] of Map.groupBy(ours, finding => finding.album)) {
    if (interruption.stop.aborted) return repairs
    const look = await lookAtAlbum(parts, album, interruption.cut)
    if (look.kind === 'failed') return { ...repairs, stopped: look.failure }
    if (look.kind === 'unknown') continue
    for (const finding of findings) {
      const failure = await deleteOne(parts, finding, look.images, interruption, mayGo)
      if (failure === null) repairs.repaired.push(finding)
      else if (failure !== 'kept' && !isOfThisOne(failure)) return { ...repairs, stopped: failure }
    }
  }
  return repairs
}

/** Answers the host's refusal, null where the image is gone or no finding any more, or that it may not go now. */
async function deleteOne(
  parts: RepairParts,
  finding: Finding,
  listed: readonly ListedImage[],
  { stop, cut }: Interruption,
  mayGo: () => boolean,
): Promise<HostFailure | 'kept' | null> {
  const { synced } = parts
  // An upload in doubt may have been answered with an id that was deleted before.
  if (stop.aborted || !mayGo() || synced.journal.openUploads().length > 0) return 'kept'
  const compared = compareAlbum(listed, recordsOf(synced, finding.album, NOW, parts.clock.wall()))
  const still = compared.findings.some(
    ({ kind, remote_id }) => kind === 'twice' && remote_id === finding.remote_id,
  )
  const shown = listed.find(({ id }) => id === finding.remote_id)
  if (still) return isOurs(synced, finding, shown) ? deleteImage(parts, finding, cut, mayGo) : 'kept'
  await synced.commit(tx => tx.audit.remove('twice', finding.remote_id))
  return null
}

/**
 * Whether the records know the id, and, of what albumd deleted, that it is the very image. What only looks like ours is
 * another's. `shown`: as it is listed now; left out, the id alone is asked for.
 */
export function isOurs(
  synced: Synced,
  { remote_id }: Pick<Finding, 'remote_id'>,
  shown?: ListedImage,
): boolean {
  if (synced.images.byRemoteId(remote_id) !== undefined) return true
  return shown ? isLeftOver(synced, shown) : synced.audit.deletedAt(remote_id) !== undefined
}

/** Answers the host's refusal, or null when the image is gone. */
function deleteImage(
  parts: RepairParts,
  { remote_id }: Finding,
  signal: AbortSignal,
  mayGo: () => boolean,
): Promise<HostFailure | null> {
  const { synced, clock } = parts
  const image = synced.images.byRemoteId(remote_id)
  const before = image && synced.journal.deletionOf(image.id)
  const isOpened = image !== undefined && before === undefined
  const deletion: Deletion = {
    target: { image: remote_id },
    intend: tx => void (isOpened && tx.journal.openImageDeletion(image.id, clock.wall())),
    // An image that albumd has deleted before has no record: only the listing tells of it.
    whyNot: () => (mayGo() ? (image ? whyImageStays(synced, image, null) : null) : because('paused')),
    done(tx) {
      if (image) deleted(tx, image, clock.wall())
      else tx.deleted.put(remote_id, clock.wall())
      tx.audit.remove('twice', remote_id)
    },
    notDone: tx => void (isOpened && tx.journal.forgetImage(image.id)),
  }
  return sendDelete(parts, deletion, signal)
}

function byAlbum({ audit }: Synced, kind: FindingKind): Map<number | null, Finding[]> {
  const findings = audit.findings().filter(finding => finding.kind === kind)
  return Map.groupBy(findings, ({ album }) => album)
}
