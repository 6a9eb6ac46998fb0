import type { Identity } from '../../local/disk.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { Guard, MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { Looks } from '../looks.ts'
import type { Interruption, MirrorPolicy, Pass, Scope } from '../pass-request.ts'
import { fullPath } from '../tree-path.ts'
import type { MirrorScanContext, ScanContext } from './folder-records.ts'
import { MirrorScan } from './scan.ts'
import { checkRoot, isSameRoot, type TrustedRoot } from './trust.ts'

type ScanRequest = Pick<Pass, 'mirrors' | 'scopeOf' | 'looks' | 'underWay'> & {
  interruption: Pick<Interruption, 'stop'>
}

/** When so many pictures are to be sent, the threads of a scan end after it, so that the uploads can use their memory. */
const MANY_PICTURES = 100

/** A mirror that was scanned. Its root was the same at the beginning and at the end of the scan. */
export interface ScannedMirror {
  row: MirrorRow
  policy: MirrorPolicy
  identity: Identity
  /** The paths of folders in doubt. Nothing in them or below them is uploaded. */
  unknown: string[]
  /** The paths of folders that are mount points. While one of them is not mounted, nothing is deleted. */
  mounts: string[]
}

/** Scans the folders that the pass asks for. Returns the mirrors, without those whose root is in doubt. */
export function scanMirrors(context: ScanContext, pass: ScanRequest): Promise<ScannedMirror[]> {
  context.vanishedRules.passBegins()
  return scanAll(context, pass, pass.scopeOf)
}

/** Scans everything once more, later in the same pass. */
export function scanEverythingAgain(context: ScanContext, pass: ScanRequest): Promise<ScannedMirror[]> {
  return scanAll(context, pass, () => 'everything')
}

/** Scans all mirrors. Emptied folders are decided about at the end: pictures may have moved to a mirror scanned later. */
async function scanAll(
  context: ScanContext,
  { mirrors, looks, underWay, interruption: { stop } }: ScanRequest,
  scopeOf: ScanRequest['scopeOf'],
): Promise<ScannedMirror[]> {
  const taken = new Set<string>()
  const scanned = new Map<MirrorPolicy, ScannedMirror | null>()
  const undecided: MirrorScan[] = []
  for (const policy of mirrors) {
    const scan = await beginScan({ ...context, underWay }, policy, scopeOf(policy), stop, looks)
    scanned.set(policy, null)
    if (scan?.isDecided()) scanned.set(policy, await finishScan(context, scan, taken, stop))
    else if (scan) undecided.push(scan)
  }
  for (const scan of undecided) scanned.set(scan.policy, await finishScan(context, scan, taken, stop))
  if (context.synced.files.arePending(MANY_PICTURES)) looks.end()
  return [...scanned.values()].filter(mirror => mirror !== null)
}

/** Checks the roots again before deletions, because a root may have been emptied after its scan began. */
export async function checkRootsAgain(
  context: ScanContext,
  scanned: readonly ScannedMirror[],
): Promise<void> {
  const { synced, disk } = context
  for (const { row } of scanned) {
    const root = checkRoot(disk, synced, synced.mirrors.byId(row.id)!)
    if (!root.trusted) await guardRoot(context, row, root.reason)
  }
}

async function beginScan(
  context: MirrorScanContext,
  policy: MirrorPolicy,
  scope: Scope,
  signal: AbortSignal,
  looks: Looks,
): Promise<MirrorScan | null> {
  const { synced, disk, emit } = context
  const { folder } = policy
  const row = synced.mirrors.of(folder) ?? (await synced.commit(tx => tx.mirrors.add(folder, policy.album)))
  const root = checkRoot(disk, synced, row)
  if (!root.trusted) return guardRoot(context, row, root.reason)
  emit({ event: 'scan_started', mirror: folder })
  await synced.commit(tx => {
    tx.mirrors.phase(row.id, 'scanning')
    tx.mirrors.trusted({ id: row.id, ...root.identity })
  })
  const scan = new MirrorScan(context, row, policy, root, looks.at(folder))
  await scan.look(root.accepted ? 'everything' : scopeAfter(synced, row, scope), signal)
  return scan
}

async function finishScan(
  context: ScanContext,
  scan: MirrorScan,
  taken: Set<string>,
  signal: AbortSignal,
): Promise<ScannedMirror | null> {
  const { synced, disk, emit } = context
  const { mirror: row, policy, root } = scan
  const { folder } = policy
  const result = await scan.finish(taken, signal)
  if (result.rootProblem || !isSameRoot(disk, folder, root.identity))
    return guardRoot(context, row, result.rootProblem ?? because('root_replaced', { folder }))
  const unknown = synced.folders.unknown(row.id)
  const guard = guardAfter(folder, unknown, signal.aborted)
  await synced.commit(tx => {
    tx.mirrors.phase(row.id, 'syncing')
    tx.mirrors.guard(row.id, guard)
    if (row.accept !== 0 && !signal.aborted) tx.mirrors.accept(row.id, acceptAfter(row, root))
  })
  // No event tells that a scan was ended: whoever ended it knows, and the next scan ends this doubt.
  if (guard && guard.code !== 'SCAN_ENDED')
    emit({ event: 'mirror_guarded', mirror: folder, reason: guard.reason })
  const files = synced.folders.countFiles(row.id)
  emit({ event: 'scan_finished', mirror: folder, folders: result.folders, files, complete: result.complete })
  return {
    row: synced.mirrors.byId(row.id)!,
    policy,
    identity: root.identity,
    unknown: unknown.map(({ path }) => path),
    mounts: synced.folders.mounts(row.id),
  }
}

async function guardRoot(
  { synced, emit }: ScanContext,
  { id, folder }: MirrorRow,
  reason: Reason,
): Promise<null> {
  await synced.commit(tx => tx.mirrors.guard(id, { code: 'ROOT', reason }))
  emit({ event: 'mirror_guarded', mirror: folder, reason })
  return null
}

/** What remains of a person's trust after a scan. It holds for one scan, and in an empty root for as long as that is empty. */
function acceptAfter({ accept }: MirrorRow, root: TrustedRoot): MirrorRow['accept'] {
  return root.empty && (root.accepted || accept === 2) ? 2 : 0
}

/** The folders that the pass asks for, and those in doubt. Everything, where the mirror is guarded for another reason. */
function scopeAfter(synced: Synced, { id, guard_code }: MirrorRow, scope: Scope): Scope {
  if (scope === 'everything' || guard_code === null) return scope
  return guard_code === 'FOLDER_UNKNOWN'
    ? [...new Set([...scope, ...synced.folders.unknown(id).map(({ path }) => path)])]
    : 'everything'
}

/** Why the mirror in `folder` is guarded after a scan, or null. Each reason names the whole path that is in doubt. */
function guardAfter(folder: string, unknown: readonly FolderRow[], ended: boolean): Guard | null {
  // A scan that was ended has not seen everything, so the mirror is guarded until the next scan.
  if (ended) return { code: 'SCAN_ENDED', reason: because('scan_ended', { folder }) }
  const [first, ...others] = unknown
  if (!first) return null
  const facts = { path: fullPath(folder, first.path), others: others.length, why: first.unknown! }
  return { code: 'FOLDER_UNKNOWN', reason: because('folder_in_doubt', facts) }
}
