import type { Disk } from '../../local/disk.ts'
import type { MirrorSummary, TreeSummary } from '../../synced/summary.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf, type Reason, reasonIn } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import { mayArriveFor } from '../clock.ts'
import { lookAt, type MirrorLocation, type OnDisk, perhapsRenamedTo } from '../scan/index.ts'
import { folderAbove, fullPath } from '../tree-path.ts'
import { deletionSteps } from './deletion-steps.ts'
import { folderOf, type GoneFolder, goneFolderSteps } from './gone-folder.ts'
import { doubtOf, type PathState, type Recorded, recordsOf, type Subject, stateOf } from './path-state.ts'
import {
  everythingWaits,
  type MirrorContext,
  type OutlookContext,
  type Step,
  step,
  uploadSteps,
} from './steps.ts'

/** What is known of a path, why it is so, and what happens next. */
export interface Outlook {
  state: PathState
  reason: Reason
  next: Step[]
  onDisk: OnDisk
  recorded: Recorded
  /** Why the mirror is guarded, or null. */
  guard: Reason | null
  /** What a folder holds; null for a picture. */
  counts: TreeSummary | null
  /** What became of the pictures of a folder that is gone and of their images, or null. */
  gone: GoneFolder | null
}

/** The outlook of one path. Reads the records and looks at the disk, and changes nothing. */
export function outlook(context: OutlookContext & { disk: Disk }, location: MirrorLocation): Outlook {
  const { synced, disk } = context
  const { mirror, path } = location
  const row = synced.mirrors.of(mirror.folder)
  const onDisk = lookAt(disk, location)
  const recorded = recordsOf(synced, row, path)
  const renamedTo = onDisk.kind === 'absent' ? perhapsRenamedTo(disk, location) : null
  const { counts, gone } = row ? folderOf(synced, row, path, onDisk, recorded) : { counts: null, gone: null }
  const subject = { location, onDisk, recorded, counts, gone, isRenamed: renamedTo !== null }
  const doubt = row ? doubtOf(synced, row, path) : null
  const [state, reason] = doubt ? [recorded.file?.state ?? ('unknown' as const), doubt] : stateOf(subject)
  const full = fullPath(mirror.folder, path)
  const ofMirror = { ...context, rootInDoubt: row?.guard_code === 'ROOT' }
  const next: Step[] = []
  if (renamedTo !== null && (recorded.file || recorded.isFolder))
    next.push(step(because('rename_first', { name: fullPath(mirror.folder, renamedTo) })))
  const isClosed = (doubt !== null || onDisk.kind === 'unknown') && !ofMirror.rootInDoubt
  if (!isClosed || state !== 'pending') next.push(...stepsOf(ofMirror, subject, state, reason, full))
  next.push(...keptSteps(recorded))
  const guard = row?.guard ?? null
  const deletions = recorded.escrow.flatMap(entry => deletionSteps(ofMirror, entry, full))
  if (row && gone) deletions.push(...goneFolderSteps(ofMirror, { mirror: row.id, path }, gone, full))
  // The guard of the mirror may be what stops its deletions too.
  if (guard !== null && !deletions.some(({ why }) => reasonIn(why, codeOf(guard)) === guard))
    next.push(step(guard))
  if (isClosed) next.push(step(because('nothing_sent_there')))
  next.push(...deletions)
  const steps = [...new Map(next.map(one => [one.why, one])).values()]
  return { state, reason, next: steps, onDisk, recorded, guard, counts, gone }
}

/** What happens next with the picture itself. */
function stepsOf(
  context: MirrorContext,
  subject: Subject,
  state: PathState,
  reason: Reason,
  path: string,
): Step[] {
  const { onDisk, recorded, location, counts } = subject
  const halt = everythingWaits(context)
  const waits = halt ? [halt] : []
  if (halt && codeOf(halt.why) === 'run_sync' && isUnmissed(subject, state, reason))
    return unmissedSteps(context, path)
  switch (state) {
    case 'pending':
    case 'unseen':
      return pendingSteps(context, onDisk, recorded)
    case 'failed':
      return failedSteps(context, subject, path)
    case 'uncertain':
      return [
        step(because('looked_for'), recorded.failure?.next_attempt_at ?? doubtEnds(context, recorded)),
        ...(recorded.file ? [step(because('resend', { path }))] : []),
        ...waits,
      ]
    case 'linked':
      return [step(because('compare_links'))]
    case 'gone_on_host':
      return [step(because('repair_gone'))]
    case 'kept':
      return [step(because('kept_stays'))]
    case 'hidden':
    case 'left_out':
      return [leftOutStep(onDisk, recorded)]
    case 'synced':
      return codeOf(reason) === 'since_then'
        ? [halt ?? step(because('looked_at_again'))]
        : recorded.file?.flat === 1
          ? [step(because('flat_stays'))]
          : []
    case 'folder':
      return folderSteps(context, location, counts)
    default:
      return []
  }
}

/** When it will be known at the latest whether the uploads of a picture that is gone have arrived, or null. */
function doubtEnds(
  { credentialLifetimeMs }: Pick<MirrorContext, 'credentialLifetimeMs'>,
  { inDoubt }: Pick<Recorded, 'inDoubt'>,
): number | null {
  const last = inDoubt.at(-1)
  return last ? last.since + mayArriveFor(credentialLifetimeMs) : null
}

/** What happens next with a picture whose upload failed. */
function failedSteps(context: MirrorContext, { onDisk, recorded }: Subject, path: string): Step[] {
  // When the upload is tried again. Null: not before the file changes.
  const again = recorded.failure?.next_attempt_at ?? null
  const halt = everythingWaits(context)
  const isDue = again !== null && again <= context.now
  const later = again === null ? step(because('tried_once_changed')) : step(because('tried_again'), again)
  const tried = isDue ? pendingSteps(context, onDisk, recorded) : [later]
  // A file that gets a valid name is another file, so neither a change nor `retry` makes this failure good.
  if (onDisk.kind === 'misnamed') return recorded.failure ? [] : [step(because('looked_at_again'))]
  return [...tried, step(because('retry_now', { path })), ...(halt ? [halt] : [])]
}

/** Whether a picture is gone from the disk, so that its image is to be deleted, and no scan has missed the picture yet. */
function isUnmissed(
  { onDisk, recorded, location, isRenamed }: Subject,
  state: PathState,
  reason: Reason,
): boolean {
  const isGone = onDisk.kind === 'absent' && !isRenamed && codeOf(reason) === 'since_then'
  const isInUse = state === 'synced' || state === 'linked' || state === 'pending'
  return isGone && isInUse && recorded.image?.kept === 0 && location.mirror.deletions === 'propagate'
}

/** Without a daemon a picture that was deleted by mistake has no grace, so what a person can do comes before a sync. */
function unmissedSteps({ now }: MirrorContext, path: string): Step[] {
  return [
    step(because('goes_by_sync')),
    step(because('bring_back', { folder: folderAbove(path), at: isoTime(now - 1) })),
    step(because('keep_image', { of: 'image', path })),
  ]
}

/** What brings back the pictures of a folder that are gone from the host, and what those wait for that are to be sent. */
function folderSteps(
  context: MirrorContext,
  { mirror: { folder }, path }: MirrorLocation,
  counts: TreeSummary | null,
): Step[] {
  const { mirrors, summaries } = context.synced
  const repair = counts?.states.gone_on_host ? [step(because('repair_gone'))] : []
  const since = summaries.sendSince({ mirror: mirrors.of(folder)?.id ?? 0, path })
  if (since === null) return repair
  const sends = uploadSteps(context, { changed: null, since })
  return [...repair, ...sends.filter(({ why }) => codeOf(why) !== 'will_be_uploaded')]
}

function pendingSteps(context: MirrorContext, onDisk: OnDisk, { file }: Recorded): Step[] {
  // Comparing asks the host for nothing, so it waits for no quota and for no end of an outage.
  if (file && context.synced.files.isToCompare(file))
    return [everythingWaits(context) ?? step(because('will_be_compared'))]
  const changed = onDisk.kind === 'picture' ? onDisk.look.ctime / 1000 : null
  return uploadSteps(context, { changed, since: file?.since ?? null })
}

/** That the image of a picture stays for good, though the picture may be there. */
function keptSteps({ file, image }: Recorded): Step[] {
  return image?.kept === 1 && file?.state !== 'kept' ? [step(because('kept_once'))] : []
}

function leftOutStep(onDisk: OnDisk, { image }: Recorded): Step {
  if (onDisk.kind !== 'left_out') return step(because('looked_at_again'))
  if (!image) return step(because('not_mirrored'))
  return step(because(onDisk.why === 'ignored' ? 'prune_ignored' : 'hidden_image_stays'))
}

/** What a mirror does, or why it does nothing. A block is shown only when the mirror waits for something. */
export function mirrorOutlook(
  {
    paused,
    running,
    blocks,
    claims,
  }: Pick<OutlookContext, 'paused' | 'running' | 'claims'> & { blocks: readonly BlockRow[] },
  row: MirrorRow | undefined,
  { pending_uploads, pending_deletions, uncertain }: MirrorSummary,
): { state: 'guarded' | 'paused' | 'scanning' | 'syncing' | 'blocked' | 'idle'; reason: Reason | null } {
  if (row?.guard) return { state: 'guarded', reason: row.guard }
  if (paused) return { state: 'paused', reason: because('paused_until', paused) }
  if (running && row?.phase) return { state: row.phase, reason: null }
  const [block] = blocks
  if (block && pending_uploads + pending_deletions + uncertain > 0)
    return { state: 'blocked', reason: block.message }
  const inDoubt = pending_deletions > 0 ? claims.doubt() : null
  if (inDoubt) return { state: 'blocked', reason: inDoubt }
  return { state: 'idle', reason: null }
}
