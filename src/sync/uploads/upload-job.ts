import { DAY_MS, HOUR_MS, type Millis } from '../../protocol/clock.ts'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { isErrorCode } from '../../protocol/errors.ts'
import type { Deletions } from '../../records/escrow.ts'
import { waits } from '../../records/waits.ts'
import { isOdd, isOutage, mayBeOfPicture } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import { albumPathOf } from '../album.ts'
import type { AlbumTree } from '../albums/index.ts'
import type { EngineContext } from '../context.ts'
import { isNamed } from '../pass-request.ts'
import type { QuotaLedger } from '../quota/index.ts'
import { isMount, isSameRoot, type ScannedMirror } from '../scan/index.ts'
import { fullPath, isAtOrBelow, pathOf } from '../tree-path.ts'
import type { UnderWay } from '../under-way.ts'
import type { Lane, Lanes } from './lanes.ts'
import { afterNodeMs } from './node-refusals.ts'

/** One file that is to be brought to the host. */
export interface UploadJob {
  file: FileRow
  /** The mirror's folder as a real path. */
  root: string
  /** Below the root. */
  path: string
  mirror: number
  albumPath: string[]
  deletions: Deletions
  /**
   * Whether the root, and the disks that are mounted above the file, are still those that the scan saw. Also false when a
   * scan beside the uploads has found the file changed or hidden, or its folder in doubt.
   */
  isAsScanned: () => boolean
  lane: Lane
}

/** What the uploads of one run of the queue share. */
export interface UploadRun extends EngineContext {
  only: Only | null
  /** See `PassRequest`. */
  named: ReadonlySet<string> | undefined
  quota: QuotaLedger
  albums: AlbumTree
  lanes: Lanes
  underWay: UnderWay
}

/**
 * What is to be uploaded for a file. Null: its folder or mirror is in doubt, or only others are sent. `mirrors`: by their
 * rows.
 */
export function jobOf(
  run: Pick<UploadRun, 'synced' | 'disk' | 'named'>,
  mirrors: ReadonlyMap<number, ScannedMirror>,
  file: FileRow,
): Omit<UploadJob, 'lane'> | null {
  const { synced, disk } = run
  const folder = synced.folders.byId(file.folder)!
  const mirror = mirrors.get(folder.mirror)
  if (!mirror) return null
  const { policy, unknown, identity, mounts } = mirror
  if (unknown.some(path => isAtOrBelow(folder.path, path))) return null
  const path = pathOf(folder.path, file.name)
  if (!isNamed(run, fullPath(policy.folder, path))) return null
  return {
    file,
    root: policy.folder,
    path,
    mirror: folder.mirror,
    albumPath: albumPathOf(policy.album, folder.path),
    deletions: policy.deletions,
    isAsScanned: () =>
      mounts.every(at => !isAtOrBelow(folder.path, at) || isMount(disk, policy.folder, at)) &&
      isSameRoot(disk, policy.folder, identity),
  }
}

/**
 * What a run does that sends nothing.
 * adopt: pictures are linked to images that the host holds already, and no album is created.
 * compare: only bytes are read, of pictures that use an image and of new pictures that may have the bytes of an image that
 * no file uses. The host is not asked.
 */
export type Only = 'adopt' | 'compare'

/**
 * A file whose upload failed. Null: the file is tried again when it changes. `odd`: the host's failure, when its answer
 * could not be used. `byNode`: the failure, when an upload node refused.
 */
interface FailedUpload {
  kind: 'failed'
  code: string
  message: Reason
  retryAt: Millis | null
  hash: Buffer | null
  odd?: HostFailure
  byNode?: HostFailure
}

/** The file is being written, or is missing. The next pass tries again, after `retryInMs` at the latest. */
export interface Waits {
  kind: 'waits'
  message: Reason
  retryInMs?: number
}

/**
 * What became of one file. Only `stop` concerns other files too. `hash`: the file's SHA-256; null when the file was not
 * read.
 */
export type UploadResult =
  | { kind: 'uploaded'; imageId: string; cdnUrl: string | null; size: number }
  /** The host holds the file's bytes already. `compared`: an image was fetched to find this out. */
  | { kind: 'unchanged'; size: number; compared?: true }
  /** An image with the file's name and dimensions is on the host, and its bytes are not compared yet. */
  | { kind: 'linked' }
  /** A run that only compares has found new bytes, so the file goes on waiting with all others. */
  | { kind: 'compared' }
  | FailedUpload
  | { kind: 'uncertain'; failure: HostFailure; hash: Buffer }
  | Waits
  /**
   * Nothing can be uploaded now, and all files stay pending. `ofPicture`: the failure of this file, if it turns out that
   * only this file is concerned.
   */
  | { kind: 'stop'; failure: HostFailure; ofPicture?: FailedUpload }

const OF_A_FILE: ReadonlySet<Endpoint> = new Set(['upload', 'send'])

/**
 * What the host's refusal means for this file and for others. `attempts`: how often the file's upload has failed before.
 */
export function resultOfRefusal(failure: HostFailure, hash: Buffer, now: Millis, attempts = 0): UploadResult {
  const { code, endpoint, message, remedy, status } = failure
  const byNode = endpoint === 'send' && status !== undefined && { byNode: failure }
  const failed = (retryAt: number | null) =>
    ({ kind: 'failed', code, message, retryAt, hash, ...byNode }) as const
  if (isOdd(failure)) return { ...failed(now + HOUR_MS), odd: failure }
  // The host is out of order, or it can't take this one picture. `Suspects` finds out which is true.
  if (mayBeOfPicture(failure) && isOutage(failure))
    return { kind: 'stop', failure, ofPicture: { ...failed(now + afterNodeMs(attempts)), odd: failure } }
  // The key lacks the right to this album, or another person's album has its name. Pictures of other albums go on.
  if (remedy === 'not_permitted')
    return { ...failed(now + HOUR_MS), message: because('album_not_permitted', { why: message }) }
  // The host does not list this album. It may list others.
  if (endpoint === 'list' && remedy === 'change_request' && isErrorCode(code))
    return { ...failed(now + HOUR_MS), message: because('listing_refused', { why: message }) }
  if (remedy === 'find_out' && endpoint === 'send') return { kind: 'uncertain', failure, hash }
  // Nobody knows whether the host created the album, or the host does not know the album or the one above it yet. So the
  // pictures of this album wait, and other pictures go on.
  if ((remedy === 'find_out' || remedy === 'gone') && !OF_A_FILE.has(endpoint))
    return { kind: 'waits', message }
  // An outage, a redirect and another refusal of an album request have nothing to do with the file.
  const isOfHost = code.startsWith('HOST_') && remedy !== 'refused_by_node'
  if (isOutage(failure) || isOfHost || !OF_A_FILE.has(endpoint)) return { kind: 'stop', failure }
  switch (remedy) {
    case 'change_picture':
    case 'other_dimensions':
      return failed(null)
    case 'change_request':
      return failed(now + (isErrorCode(code) ? DAY_MS : HOUR_MS))
    case 'refused_by_node':
      return failed(now + afterNodeMs(attempts))
    case 'new_credential':
    case 'gone':
    case 'faster_line':
      return failed(now + HOUR_MS)
    case 'changed_underway':
    case 'give_way':
      return { kind: 'waits', message }
    default:
      return { kind: 'stop', failure }
  }
}

/**
 * Records that no picture can be sent now. This is not left to the end of the pass: deletions may take hours until then,
 * and a process that starts meanwhile must not ask the host again.
 */
export async function recordStop({ synced, quota, clock }: UploadRun, failure: HostFailure): Promise<void> {
  const { remedy, code, message, repeated } = failure
  if (repeated) return
  const now = clock.wall()
  if (remedy === 'quota') await synced.commit(tx => quota.refuse(tx, failure))
  if (remedy === 'storage' || remedy === 'plan')
    await synced.commit(tx =>
      tx.account.block({ endpoint: 'upload', code, message, since: now, said_at: now }),
    )
}

/** Records what one picture waits for. What all wait for stands with the account, and a run that sends nothing decides nothing. */
export async function recordWait(
  { synced, clock, only }: UploadRun,
  file: FileRow,
  { message: why, retryInMs }: Waits,
): Promise<void> {
  if (only !== null || codeOf(why) === 'sent_before_loss') return
  const at = Math.round(clock.wall())
  const until = retryInMs === undefined ? null : at + Math.ceil(retryInMs)
  await synced.commit(tx => waits(tx, file, { why, until, at }))
}
