import type { Disk } from '../local/disk.ts'
import type { MirrorRow, RootIdentity } from '../synced/mirrors.ts'
import type { Synced } from '../synced/synced.ts'
import type { Clock } from './clock.ts'
import type { Tell } from './pass-events.ts'
import type { Deletions } from './plan.ts'
import { checkRoot } from './root-guard.ts'
import { type LookAtFolders, MirrorScan } from './scan.ts'

export interface MirrorPolicy {
  /** Real path. */
  folder: string
  album: string
  deletions: Deletions
  ignore: readonly string[]
}

/** Folders below a mirror's root that need a look, or all of them. */
export type Scope = 'everything' | readonly string[]

export interface ScanParts {
  synced: Synced
  disk: Disk
  clock: Clock
  tell: Tell
  lookAt: (root: string) => LookAtFolders
  /** How long a picture must be gone, or replaced, before its image is given up. */
  graceMs: number
  /** Milliseconds that albumd ran and looked, over all its starts. */
  running: () => number
}

/** A mirror whose root is the one it was. */
export interface ScannedMirror {
  row: MirrorRow
  policy: MirrorPolicy
  identity: RootIdentity
  /** Folders that could not be read, or whose ignore file could not: nothing below is sent. */
  unknown: string[]
}

/** Scans one mirror. Null where its root is in doubt: then nothing of it is sent or deleted. */
export async function scanMirror(
  { synced, disk, clock, tell, lookAt, graceMs, running }: ScanParts,
  policy: MirrorPolicy,
  scope: Scope,
  signal: AbortSignal,
): Promise<ScannedMirror | null> {
  const { folder } = policy
  const row =
    synced.mirrors.of(folder) ?? (await synced.commit(() => synced.mirrors.add(folder, policy.album)))
  const guard = async (reason: string) => {
    await synced.commit(() => synced.mirrors.guard(row.id, reason))
    tell({ event: 'mirror_guarded', mirror: folder, reason })
    return null
  }
  const root = checkRoot(disk, synced, row)
  if (!root.trusted) return guard(root.reason)
  tell({ event: 'scan_started', mirror: folder })
  await synced.commit(() => synced.mirrors.phase(row.id, 'scanning'))
  const now = () => clock.wall()
  const scan = new MirrorScan({
    ...policy,
    synced,
    look: lookAt(folder),
    mirror: row.id,
    graceMs,
    running,
    now,
    tell,
  })
  const result = await scan.run(scope, signal)
  if (result.rootProblem) return guard(`${folder} can't be read: ${result.rootProblem}`)
  const doubt = whyIncomplete(synced, row.id, result.complete)
  await synced.commit(() => {
    synced.mirrors.phase(row.id, 'syncing')
    synced.mirrors.guard(row.id, doubt)
    if (result.complete && scope === 'everything') synced.mirrors.scanned(row.id, clock.wall(), root.identity)
  })
  if (doubt) tell({ event: 'mirror_guarded', mirror: folder, reason: doubt })
  const { files } = synced.summaries.mirror(row.id)
  tell({ event: 'scan_finished', mirror: folder, folders: result.folders, files, complete: result.complete })
  const unknown = synced.folders.unknown(row.id).map(({ path }) => path)
  return { row: synced.mirrors.byId(row.id)!, policy, identity: root.identity, unknown }
}

function whyIncomplete(synced: Synced, mirror: number, complete: boolean): string | null {
  const [unknown] = synced.folders.unknown(mirror)
  if (unknown) return `nothing is deleted while a folder is unknown: ${unknown.path}: ${unknown.unknown}`
  return complete ? null : 'nothing is deleted: the last scan did not come to its end'
}
