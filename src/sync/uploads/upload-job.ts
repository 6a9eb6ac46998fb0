import { DAY_MS, HOUR_MS, type Millis } from '../../protocol/clock.ts'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { isErrorCode } from '../../protocol/errors.ts'
import type { Deletions } from '../../records/escrow.ts'
import type { ReadPicture } from '../../records/pictures.ts'
import { waits } from '../../records/waits.ts'
import { isOdd, isOutage, mayBeOfPicture } from '../../remote/failures.ts'
import type { HostFailure, Remedy } from '../../remote/host.ts'
import type { FileKey, FileRow } from '../../synced/tables/files.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import { type Album, albumPathOf } from '../album.ts'
import type { AlbumTree } from '../albums/index.ts'
import type { DiskPort, EngineContext } from '../context.ts'
import { isNamed, type PassRequest } from '../pass-request.ts'
import type { QuotaLedger } from '../quota/index.ts'
import { isMount, isSameRoot, type ScannedMirror } from '../scan/index.ts'
import { fullPath, isAtOrBelow, pathOf } from '../tree-path.ts'
import type { UnderWay } from '../under-way.ts'
import type { Lane, Lanes } from './lanes.ts'

/** One file that is to be brought to the host. */
export interface UploadJob {
  file: FileRow
  /** The mirror's folder as a real path. */
  root: string
  /** The file's path below the root. */
  path: string
  mirror: number
  albumPath: string[]
  deletions: Deletions
  /** Whether the root, and the disks that are mounted above the file, are still those that the scan saw. Also false when a
   * scan beside the uploads has found the file changed or hidden, or its folder in doubt. */
  isAsScanned: () => boolean
  lane: Lane
}

/** Why a picture waits when the host refuses its type. Null: the host does not. */
interface TypeWaits {
  /** Why a picture waits that an earlier run has read. */
  whyUnread(file: FileKey): Reason | null
  whyOfType(file: FileKey, mime: string): Reason | null
}

/** What the uploads of one run of the queue share. */
export interface UploadRun extends EngineContext {
  only: Only | null
  /** See `PassRequest`. */
  named: PassRequest['named']
  quota: QuotaLedger
  albums: AlbumTree
  lanes: Lanes
  breaker: TypeWaits
  underWay: UnderWay
}

type QueuePort = DiskPort & { named: PassRequest['named'] }
type Mirrors = ReadonlyMap<number, ScannedMirror>

/** The place of a file that may be sent. Null: its folder or mirror is in doubt, or the run sends only others. */
function placeOf({ synced, named }: QueuePort, mirrors: Mirrors, file: FileRow) {
  const folder = synced.folders.byId(file.folder)!
  const mirror = mirrors.get(folder.mirror)
  if (!mirror || mirror.unknown.some(path => isAtOrBelow(folder.path, path))) return null
  const path = pathOf(folder.path, file.name)
  return isNamed(named, fullPath(mirror.policy.folder, path)) ? { folder, mirror, path } : null
}

/** The upload of a file. Null: nothing is to be uploaded. `mirrors`: by their rows. */
export function jobOf(
  run: QueuePort,
  mirrors: Mirrors,
  file: FileRow,
): Omit<UploadJob, 'lane' | 'isAsScanned'> | null {
  const place = placeOf(run, mirrors, file)
  if (!place) return null
  const { folder, mirror, path } = place
  const { policy } = mirror
  return {
    file,
    root: policy.folder,
    path,
    mirror: folder.mirror,
    albumPath: albumPathOf(policy.album, folder.path),
    deletions: policy.deletions,
  }
}

/** Whether the root, and the disks that are mounted above the file, are still those that the scan saw. */
export function isAsScanned(run: QueuePort, mirrors: Mirrors, file: FileRow): boolean {
  const place = placeOf(run, mirrors, file)
  if (!place) return false
  const { folder, mirror } = place
  const { policy, identity, mounts } = mirror
  return (
    mounts.every(at => !isAtOrBelow(folder.path, at) || isMount(run.disk, policy.folder, at)) &&
    isSameRoot(run.disk, policy.folder, identity)
  )
}

/** A picture that was read, and whose. */
export interface JobPicture extends ReadPicture {
  job: UploadJob
}

/** A picture that was read, and the album that it is sent into. */
export interface Parcel extends JobPicture {
  album: Album
}

/** What a run does that sends nothing. adopt: links pictures to images that are there. compare: reads only pictures whose bytes
 * an image may have, and does not ask the host. */
export type Only = 'adopt' | 'compare'

/** A failed upload. `retryAt`: null: not before the file changes. `refusal`: an answer that may be the same for every picture. */
interface FailedUpload {
  kind: 'failed'
  code: string
  message: Reason
  retryAt: Millis | null
  hash: Buffer | null
  refusal?: HostFailure
  mime?: string
}

/** The picture is not sent now, for this reason. The next pass tries again, at the latest after `retryInMs`. */
export interface Waits {
  kind: 'waits'
  message: Reason
  retryInMs?: number
}

/** What became of a file. Only `stop` concerns others too. `hash`: null when the file was not read. */
export type UploadResult =
  | { kind: 'uploaded'; imageId: string; cdnUrl: string | null; size: number; mime?: string }
  /** The host holds the file's bytes already. `compared` and `cdn_url`: as in the event `picture_unchanged`. */
  | { kind: 'unchanged'; size: number; compared?: true; cdn_url?: string | null }
  /** An image with the file's name and dimensions is on the host, and its bytes are not compared yet. */
  | { kind: 'linked' }
  /** A run that only compares has found new bytes. The file goes on waiting. */
  | { kind: 'compared' }
  | FailedUpload
  | { kind: 'uncertain'; failure: HostFailure; hash: Buffer }
  | Waits
  /** All files stay pending. `ofPicture`: the failure that counts if only this file turns out to be concerned. */
  | { kind: 'stop'; failure: HostFailure; ofPicture?: FailedUpload }

const OF_A_FILE: ReadonlySet<Endpoint> = new Set(['upload', 'send'])

/** How long a picture waits that was refused by itself: an hour, a day, then a week, because each try may cost quota. `refusals`:
 * how often before. */
export function afterRefusalMs(refusals: number): number {
  return Math.min(HOUR_MS * 24 ** refusals, 7 * DAY_MS)
}

/** What the host's refusal means for this file and for others. `refusals`: how often the picture itself was refused before. */
export function resultOfRefusal(failure: HostFailure, hash: Buffer, now: Millis, refusals = 0): UploadResult {
  const { code, endpoint, message, remedy } = failure
  const failed = { kind: 'failed', code, message, retryAt: now + HOUR_MS, hash } as const
  if (isOfAlbum(failure)) {
    const words = remedy === 'not_permitted' ? 'album_not_permitted' : 'listing_refused'
    return { ...failed, message: because(words, { why: message }) }
  }
  const isOut = isOutage(failure)
  const isOfHost = code.startsWith('HOST_') && remedy !== 'refused_by_node'
  const refused = { ...failed, retryAt: now + afterRefusalMs(refusals), refusal: failure }
  if (isOdd(failure) || (!isOut && !isOfHost && mayBeOfAll(failure)))
    return OF_VERSION.has(remedy) ? { ...refused, retryAt: null } : refused
  // The host is out of order, or can't take this one picture. `Breaker` finds out which.
  if (mayBeOfPicture(failure) && isOut) return { kind: 'stop', failure, ofPicture: refused }
  if (remedy === 'find_out' && endpoint === 'send') return { kind: 'uncertain', failure, hash }
  const isOfFile = OF_A_FILE.has(endpoint)
  // The album may have been created, or the host may not know it yet. So its pictures wait, and others go on.
  if ((remedy === 'find_out' || remedy === 'gone') && !isOfFile) return { kind: 'waits', message }
  // An outage, a redirect and any other refusal of an album request have nothing to do with the file.
  if (isOut || isOfHost || !isOfFile) return { kind: 'stop', failure }
  return resultOfFile(failure, failed)
}

function resultOfFile(failure: HostFailure, failed: FailedUpload): UploadResult {
  const { remedy, message } = failure
  if (remedy === 'changed_underway' || remedy === 'give_way') return { kind: 'waits', message }
  if (OF_VERSION.has(remedy)) return { ...failed, retryAt: null }
  return OF_UPLOAD.has(remedy) ? failed : { kind: 'stop', failure }
}

/** Remedies that fail a file until it changes. */
const OF_VERSION: ReadonlySet<Remedy> = new Set<Remedy>(['change_picture', 'other_dimensions'])
/** Remedies that fail one upload. */
const OF_UPLOAD: ReadonlySet<Remedy> = new Set<Remedy>([
  'change_request',
  'new_credential',
  'gone',
  'faster_line',
])

/** Whether an answer may be the same for every picture. */
function mayBeOfAll({ remedy, status }: HostFailure): boolean {
  return status === 415 || (status !== undefined && OF_ALL.has(remedy))
}

const OF_ALL: ReadonlySet<Remedy> = new Set<Remedy>([
  'not_permitted',
  'change_request',
  'refused_by_node',
  'new_credential',
  'other_dimensions',
])

/** Whether the host refuses one album and may take others: no right, another person's name, or an album that it does not list. */
export function isOfAlbum({ remedy, endpoint, code }: HostFailure): boolean {
  if (OF_A_FILE.has(endpoint) || !isErrorCode(code)) return false
  return remedy === 'not_permitted' || (endpoint === 'list' && remedy === 'change_request')
}

/** Records it at once: deletions may take hours until the end of the pass, and another process must not ask meanwhile. */
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

/** Records what one picture waits for, not what the account waits for. A run that sends nothing records nothing. */
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
