import type { Endpoint } from '../protocol/endpoints.ts'
import type { HostFailure, ImageHost } from '../remote/host.ts'
import type { FileRow } from '../synced/files.ts'
import type { JournalRow } from '../synced/journal.ts'
import type { Synced } from '../synced/synced.ts'
import { AlbumTree } from './album-tree.ts'
import { giveUpImages } from './give-up.ts'
import { Ground } from './ground.ts'
import { forgetOldDeletions, type HoldPolicy, weighDeletions } from './hold.ts'
import type { Interruption } from './interruption.ts'
import { keepImages } from './keep-images.ts'
import {
  type MirrorPolicy,
  type ScannedMirror,
  type ScanParts,
  type Scope,
  scanMirror,
} from './mirror-scans.ts'
import type { OpenPictureAt } from './settled-picture.ts'
import { Uploader } from './upload.ts'
import { UploadQueue, uncertainty } from './upload-queue.ts'

export interface PassParts extends ScanParts {
  host: ImageHost
  openPicture: OpenPictureAt
  quotaDay: (wall: number) => string
  settleMs: number
  concurrency: number
  order: 'newest' | 'oldest'
  probeEveryMs: number
  hold: HoldPolicy
}

/** The host refused the key (§7): it is asked about hourly, as the contract has it. */
const KEY_REFUSED: ReadonlySet<string> = new Set(['MISSING_API_KEY', 'INVALID_API_KEY'])
const HOUR_MS = 3_600_000

export interface PassReport {
  /** What ended uploads or deletions early. */
  stopped: HostFailure[]
}

/**
 * One pass: scan every mirror, send what is pending, then give up what is no longer there. New images come before old
 * ones go.
 */
export async function runPass(
  parts: PassParts,
  mirrors: readonly MirrorPolicy[],
  scopeOf: (mirror: MirrorPolicy) => Scope,
  interruption: Interruption,
): Promise<PassReport> {
  await settleJournal(parts)
  tryAgain(parts)
  const stopped: HostFailure[] = []
  const mirrored = await mirrorUp(parts, mirrors, scopeOf, interruption, stopped)
  const due = parts.synced.escrow.nextDue(mirrored.map(({ row }) => row.id))
  if (due !== null && due <= parts.running()) await giveUp(parts, mirrors, mirrored, interruption, stopped)
  await parts.synced.commit(() => recordStates(parts, stopped))
  return { stopped }
}

/** What an earlier pass left open. An album is found by the next search; a deletion stays in doubt until it is repeated. */
async function settleJournal({ synced, clock }: PassParts): Promise<void> {
  const open = synced.journal.open()
  const due = synced.failures.due(clock.wall())
  if (open.length === 0 && due.length === 0) return
  await synced.commit(() => {
    for (const intent of open) {
      if (intent.kind === 'create_album') synced.journal.close(intent.id)
      if (intent.kind === 'upload') doubtVersion(synced, intent)
    }
    for (const { folder, name } of due) synced.files.retry({ folder, name })
  })
}

/** The version that may have arrived is not sent again; another one is. */
function doubtVersion({ files, failures }: Synced, intent: JournalRow): void {
  const { folder, name, hash, size, mtime, since } = intent
  const file = files.at({ folder: folder!, name: name! })
  if (file?.state !== 'pending' || file.size !== size || file.mtime !== mtime) return
  files.put({ ...file, state: 'uncertain', since, hash })
  failures.put(uncertainty(file, 'its upload was cut off when albumd ended'))
}

/** What has been shut for long enough is tried again. */
function tryAgain({ synced, host, clock, probeEveryMs }: PassParts): void {
  for (const { endpoint, code, said_at } of synced.account.blocks()) {
    const every = KEY_REFUSED.has(code) ? HOUR_MS : probeEveryMs
    if (clock.wall() - said_at >= every) host.unblock(endpoint as Endpoint)
  }
}

function uploadPending(parts: PassParts, scanned: readonly ScannedMirror[], interruption: Interruption) {
  const { synced, host, clock, tell } = parts
  const albums = new AlbumTree(synced, host, clock, tell)
  const uploader = new Uploader({ ...parts, albums })
  return new UploadQueue({ ...parts, uploader }, scanned).run(interruption)
}

/** Looks at the mirrors and sends what is new there. */
async function mirrorUp(
  parts: PassParts,
  mirrors: readonly MirrorPolicy[],
  scopeOf: (mirror: MirrorPolicy) => Scope,
  interruption: Interruption,
  stopped: HostFailure[],
): Promise<ScannedMirror[]> {
  const scanned: ScannedMirror[] = []
  for (const policy of mirrors) {
    const mirror = await scanMirror(parts, policy, scopeOf(policy), interruption.stop)
    if (mirror) scanned.push(mirror)
  }
  // What ended the uploads a moment ago would end them again.
  const upload = stopped.length > 0 ? null : await uploadPending(parts, scanned, interruption)
  if (upload) stopped.push(upload)
  return scanned
}

/**
 * Gives up what was found gone, after everything was looked at once more: a picture that moved behind the scan's back
 * is found then, in whatever mirror, and sent first. What this look finds gone waits for the next pass.
 */
async function giveUp(
  parts: PassParts,
  mirrors: readonly MirrorPolicy[],
  before: readonly ScannedMirror[],
  interruption: Interruption,
  stopped: HostFailure[],
): Promise<void> {
  const { synced } = parts
  const known = new Set(before.flatMap(({ row }) => synced.escrow.ofMirror(row.id).map(({ image }) => image)))
  const scanned = await mirrorUp(parts, mirrors, () => 'everything', interruption, stopped)
  // A folder in doubt may be where a picture of another mirror has gone.
  const doubt = scanned.find(({ row }) => row.guard !== null)?.row.guard ?? null
  for (const mirror of scanned) {
    if (mirror.policy.deletions === 'keep') await keepAll(parts, mirror)
    else if (doubt === null) {
      const failure = await giveUpMirror(parts, mirror, scanned, known, interruption)
      if (failure) stopped.push(failure)
    }
  }
}

/** A mirror that is a backup now keeps what it was about to give up. */
async function keepAll({ synced, clock }: PassParts, { row }: ScannedMirror): Promise<void> {
  const images = synced.escrow.ofMirror(row.id).map(({ image }) => image)
  if (images.length > 0) await synced.commit(() => keepImages(synced, images, clock.wall()))
}

async function giveUpMirror(
  parts: PassParts,
  mirror: ScannedMirror,
  scanned: readonly ScannedMirror[],
  known: ReadonlySet<number>,
  interruption: Interruption,
): Promise<HostFailure | null> {
  const { synced, tell, hold, running } = parts
  const named = { id: mirror.row.id, folder: mirror.policy.folder }
  await weighDeletions(synced, tell, named, hold, running())
  const ground = new Ground(parts, scanned)
  const doubt = () => ground.doubt(mirror)
  const whyNotGone = (file: FileRow) => ground.whyNotGone(file)
  return giveUpImages({ ...parts, doubt, whyNotGone, known }, named, interruption)
}

/** States of the account outlive the process, for `status`. */
function recordStates(
  { synced, clock, quotaDay, running }: PassParts,
  stopped: readonly HostFailure[],
): void {
  const now = clock.wall()
  synced.mirrors.endPhases()
  synced.meta.set('running_ms', String(running()))
  forgetOldDeletions(synced, running())
  const shut = stopped.filter(({ remedy }) => remedy !== 'quota' && remedy !== 'cancelled')
  synced.account.clearBlocks(shut.map(({ endpoint }) => endpoint))
  for (const { endpoint, code, message, repeated } of shut)
    if (!repeated) synced.account.block({ endpoint, code, message, since: now, said_at: now })
  if (stopped.some(({ remedy, repeated }) => remedy === 'quota' && !repeated))
    synced.account.exhaustQuota(quotaDay(now), now, null)
}
