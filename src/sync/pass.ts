import type { HostFailure, ImageHost } from '../remote/host.ts'
import { AlbumTree } from './album-tree.ts'
import { giveUpImages } from './give-up.ts'
import { forgetOldDeletions, type HoldPolicy, weighDeletions } from './hold.ts'
import type { Interruption } from './interruption.ts'
import {
  type MirrorPolicy,
  type ScannedMirror,
  type ScanParts,
  type Scope,
  scanMirror,
} from './mirror-scans.ts'
import { isSameRoot } from './root-guard.ts'
import type { OpenPictureAt } from './settled-picture.ts'
import { Uploader } from './upload.ts'
import { UploadQueue } from './upload-queue.ts'

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

export interface PassReport {
  /** Mirrors whose root was in doubt. */
  guarded: number
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
  const scanned: ScannedMirror[] = []
  for (const policy of mirrors) {
    const mirror = await scanMirror(parts, policy, scopeOf(policy), interruption.stop)
    if (mirror) scanned.push(mirror)
  }
  const stopped: HostFailure[] = []
  const upload = await uploadPending(parts, scanned, interruption)
  if (upload) stopped.push(upload)
  for (const mirror of scanned) {
    const failure = await giveUp(parts, mirror, interruption)
    if (failure) stopped.push(failure)
  }
  await parts.synced.commit(() => recordStates(parts, stopped))
  return { guarded: mirrors.length - scanned.length, stopped }
}

/** What an earlier process was about to do and did not record. */
async function settleJournal({ synced, clock }: PassParts): Promise<void> {
  const open = synced.journal.open()
  const due = synced.failures.due(clock.wall())
  if (open.length === 0 && due.length === 0) return
  await synced.commit(() => {
    for (const { id, kind, folder, name } of open) {
      // The next search finds an album; a second deletion finds nothing. Only an upload leaves a doubt.
      if (kind !== 'upload') synced.journal.close(id)
      else synced.files.setState({ folder: folder!, name: name! }, 'uncertain', clock.wall())
    }
    for (const { folder, name } of due) synced.files.retry({ folder, name })
  })
}

function uploadPending(parts: PassParts, scanned: readonly ScannedMirror[], interruption: Interruption) {
  const { synced, host, clock, tell } = parts
  const albums = new AlbumTree(synced, host, clock, tell)
  const uploader = new Uploader({ ...parts, albums })
  return new UploadQueue({ ...parts, uploader }, scanned).run(interruption)
}

async function giveUp(
  parts: PassParts,
  { row, policy, identity }: ScannedMirror,
  interruption: Interruption,
): Promise<HostFailure | null> {
  if (row.guard) return null
  const { disk, synced, tell, hold, running } = parts
  await weighDeletions(synced, tell, { id: row.id, folder: policy.folder }, hold, running())
  return giveUpImages(
    parts,
    {
      id: row.id,
      folder: policy.folder,
      doubt: () => (isSameRoot(disk, policy.folder, identity) ? null : 'the root was replaced'),
      isGone: path => isGone(parts, `${policy.folder}/${path}`),
    },
    interruption,
  )
}

function isGone({ disk }: PassParts, path: string): boolean {
  try {
    // A folder in its place means that the picture is gone; a link or an empty file may still stand for it.
    return disk.lstat(path).kind === 'folder'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR'
  }
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
  synced.account.clearBlocks()
  for (const { remedy, endpoint, code, message } of stopped) {
    if (remedy === 'quota') synced.account.exhaustQuota(quotaDay(now), now, null)
    else if (remedy !== 'cancelled') synced.account.block({ endpoint, code, message, since: now })
  }
}
