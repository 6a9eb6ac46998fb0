import type { Disk } from '../local/disk.ts'
import type { Guard, MirrorRow, RootIdentity } from '../synced/mirrors.ts'
import type { Synced } from '../synced/synced.ts'
import type { Clock } from './clock.ts'
import type { Tell } from './pass-events.ts'
import type { Deletions } from './plan.ts'
import { checkRoot, isSameRoot } from './root-guard.ts'
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
  parts: ScanParts,
  policy: MirrorPolicy,
  scope: Scope,
  signal: AbortSignal,
): Promise<ScannedMirror | null> {
  const { synced, disk, clock, tell, lookAt } = parts
  const { folder } = policy
  const row =
    synced.mirrors.of(folder) ?? (await synced.commit(() => synced.mirrors.add(folder, policy.album)))
  const inDoubt = async (reason: string) => {
    await synced.commit(() => synced.mirrors.guard(row.id, { code: 'ROOT', reason }))
    tell({ event: 'mirror_guarded', mirror: folder, reason })
    return null
  }
  const root = checkRoot(disk, synced, row)
  if (!root.trusted) return inDoubt(root.reason)
  tell({ event: 'scan_started', mirror: folder })
  await synced.commit(() => {
    synced.mirrors.phase(row.id, 'scanning')
    synced.mirrors.trusted(row.id, root.identity)
  })
  const now = () => clock.wall()
  const sameRoot = () => isSameRoot(disk, folder, root.identity)
  const scan = new MirrorScan({ ...parts, ...policy, look: lookAt(folder), mirror: row.id, now, sameRoot })
  const wanted = scopeAfter(synced, row, scope)
  const result = await scan.run(wanted, signal)
  if (result.rootProblem || !sameRoot())
    return inDoubt(`${folder}: ${result.rootProblem ?? 'it was replaced'}`)
  const guard = guardAfter(synced, row.id, signal.aborted)
  await synced.commit(() => {
    synced.mirrors.phase(row.id, 'syncing')
    synced.mirrors.guard(row.id, guard)
  })
  if (guard) tell({ event: 'mirror_guarded', mirror: folder, reason: guard.reason })
  const { files } = synced.summaries.mirror(row.id)
  tell({ event: 'scan_finished', mirror: folder, folders: result.folders, files, complete: result.complete })
  const unknown = synced.folders.unknown(row.id).map(({ path }) => path)
  return { row: synced.mirrors.byId(row.id)!, policy, identity: root.identity, unknown }
}

/** What was in doubt the last time is looked at too: a folder for itself, else everything. */
function scopeAfter(synced: Synced, { id, guard_code }: MirrorRow, scope: Scope): Scope {
  if (scope === 'everything' || guard_code === null) return scope
  return guard_code === 'FOLDER_UNKNOWN'
    ? [...new Set([...scope, ...synced.folders.unknown(id).map(({ path }) => path)])]
    : 'everything'
}

function guardAfter(synced: Synced, mirror: number, ended: boolean): Guard | null {
  // What is found after an early end is judged by a scan that was not.
  if (ended)
    return { code: 'SCAN_ENDED', reason: 'nothing is deleted: the last scan did not come to its end' }
  const [unknown] = synced.folders.unknown(mirror)
  if (!unknown) return null
  const reason = `nothing is deleted while a folder is unknown: ${unknown.path || 'the root'}: ${unknown.unknown}`
  return { code: 'FOLDER_UNKNOWN', reason }
}
