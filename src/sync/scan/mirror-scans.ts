import type { Disk } from '../../local/disk.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { Guard, MirrorRow, RootIdentity } from '../../synced/tables/mirrors.ts'
import type { Clock } from '../clock.ts'
import type { Tell } from '../pass-events.ts'
import type { Deletions } from '../plan.ts'
import { isMount, noticingMounts } from './mounts.ts'
import { checkRoot, isSameRoot, mostKnownAreThere, type RootCheck } from './root-guard.ts'
import { type LookAtFolders, MirrorScan } from './scan.ts'
import type { VanishedRules } from './vanished-rules.ts'

export interface MirrorPolicy {
  /** Real path. */
  folder: string
  album: string
  deletions: Deletions
  ignore: readonly string[]
  /** Whether images of pictures that an ignore rule hides are given up like those of deleted ones. */
  pruneIgnored?: boolean
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
  /** Shared by the scans of one process. */
  vanishedRules: VanishedRules
}

/** A mirror whose root is the one it was. */
export interface ScannedMirror {
  row: MirrorRow
  policy: MirrorPolicy
  identity: RootIdentity
  /** Folders that could not be read, or whose ignore file could not: nothing below is sent. */
  unknown: string[]
  /** Folders that are mount points: without one of them nothing is certain. */
  mounts: string[]
}

/** A scan that has looked, and is yet to decide what only all scans together can tell. */
interface BegunScan {
  policy: MirrorPolicy
  row: MirrorRow
  root: RootCheck & { trusted: true }
  scan: MirrorScan
}

/**
 * Scans mirrors. Left out are those whose root is in doubt: nothing of them is sent or deleted. A picture that has left
 * one mirror is found in another one, whatever their order.
 */
export async function scanMirrors(
  parts: ScanParts,
  mirrors: readonly MirrorPolicy[],
  scopeOf: (mirror: MirrorPolicy) => Scope,
  signal: AbortSignal,
): Promise<ScannedMirror[]> {
  const taken = new Set<string>()
  const scanned = new Map<MirrorPolicy, ScannedMirror | null>()
  const undecided: BegunScan[] = []
  for (const policy of mirrors) {
    const begun = await beginScan(parts, policy, scopeOf(policy), signal)
    scanned.set(policy, null)
    if (begun?.scan.isDecided()) scanned.set(policy, await finishScan(parts, begun, taken, signal))
    else if (begun) undecided.push(begun)
  }
  for (const begun of undecided) scanned.set(begun.policy, await finishScan(parts, begun, taken, signal))
  return [...scanned.values()].filter(mirror => mirror !== null)
}

/** Before deletions: a root that was emptied while it was scanned is as much in doubt as one that was found empty. */
export async function checkRootsAgain(parts: ScanParts, scanned: readonly ScannedMirror[]): Promise<void> {
  const { synced, disk } = parts
  for (const { row } of scanned) {
    const root = checkRoot(disk, synced, synced.mirrors.byId(row.id)!)
    if (!root.trusted) await guardRoot(parts, row, root.reason)
  }
}

async function beginScan(
  parts: ScanParts,
  policy: MirrorPolicy,
  scope: Scope,
  signal: AbortSignal,
): Promise<BegunScan | null> {
  const { synced, disk, clock, tell, lookAt } = parts
  const { folder } = policy
  const row =
    synced.mirrors.of(folder) ?? (await synced.commit(() => synced.mirrors.add(folder, policy.album)))
  const root = checkRoot(disk, synced, row)
  if (!root.trusted) return guardRoot(parts, row, root.reason)
  tell({ event: 'scan_started', mirror: folder })
  await synced.commit(() => {
    synced.mirrors.phase(row.id, 'scanning')
    synced.mirrors.trusted(row.id, root.identity)
  })
  const scan = new MirrorScan({
    ...parts,
    ...policy,
    look: noticingMounts(lookAt(folder), disk, folder),
    mirror: row.id,
    now: () => clock.wall(),
    sameRoot: () => isSameRoot(disk, folder, root.identity),
    isMount: path => isMount(disk, folder, path),
    holdsKnown: path => mostKnownAreThere(disk, synced, row, path),
    accepted: root.accepted,
  })
  await scan.look(root.accepted ? 'everything' : scopeAfter(synced, row, scope), signal)
  return { policy, row, root, scan }
}

async function finishScan(
  parts: ScanParts,
  { policy, row, root, scan }: BegunScan,
  taken: Set<string>,
  signal: AbortSignal,
): Promise<ScannedMirror | null> {
  const { synced, disk, tell } = parts
  const { folder } = policy
  const result = await scan.finish(taken, signal)
  if (result.rootProblem || !isSameRoot(disk, folder, root.identity))
    return guardRoot(parts, row, `${folder}: ${result.rootProblem ?? 'it was replaced'}`)
  const unknown = synced.folders.unknown(row.id)
  const guard = guardAfter(unknown[0], signal.aborted)
  await synced.commit(() => {
    synced.mirrors.phase(row.id, 'syncing')
    synced.mirrors.guard(row.id, guard)
    if (row.accept !== 0 && !signal.aborted) synced.mirrors.accept(row.id, acceptAfter(row, root))
  })
  if (guard) tell({ event: 'mirror_guarded', mirror: folder, reason: guard.reason })
  const files = synced.folders.countFiles(row.id)
  tell({ event: 'scan_finished', mirror: folder, folders: result.folders, files, complete: result.complete })
  return {
    row: synced.mirrors.byId(row.id)!,
    policy,
    identity: root.identity,
    unknown: unknown.map(({ path }) => path),
    mounts: synced.folders.mounts(row.id),
  }
}

async function guardRoot(
  { synced, tell }: ScanParts,
  { id, folder }: MirrorRow,
  reason: string,
): Promise<null> {
  await synced.commit(() => synced.mirrors.guard(id, { code: 'ROOT', reason }))
  tell({ event: 'mirror_guarded', mirror: folder, reason })
  return null
}

/** A person's word has had its effect. Only that the root may be empty is remembered for as long as it is. */
function acceptAfter({ accept }: MirrorRow, root: RootCheck & { trusted: true }): MirrorRow['accept'] {
  return root.empty && (root.accepted || accept === 2) ? 2 : 0
}

/** What was in doubt the last time is looked at too: a folder for itself, else everything. */
function scopeAfter(synced: Synced, { id, guard_code }: MirrorRow, scope: Scope): Scope {
  if (scope === 'everything' || guard_code === null) return scope
  return guard_code === 'FOLDER_UNKNOWN'
    ? [...new Set([...scope, ...synced.folders.unknown(id).map(({ path }) => path)])]
    : 'everything'
}

function guardAfter(unknown: FolderRow | undefined, ended: boolean): Guard | null {
  // What is found after an early end is judged by a scan that was not.
  if (ended)
    return { code: 'SCAN_ENDED', reason: 'nothing is deleted: the last scan did not come to its end' }
  if (!unknown) return null
  const reason = `nothing is deleted while a folder is unknown: ${unknown.path || 'the root'}: ${unknown.unknown}`
  return { code: 'FOLDER_UNKNOWN', reason }
}
