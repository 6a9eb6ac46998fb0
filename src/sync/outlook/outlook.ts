import type { Disk } from '../../local/disk.ts'
import { moveOf } from '../../records/history.ts'
import type { MirrorSummary, TreeSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FailureRow } from '../../synced/tables/failures.ts'
import type { FileRow, FileState } from '../../synced/tables/files.ts'
import type { HistoryEvent, HistoryRow } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf, type Reason, reasonIn } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import { albumName } from '../album.ts'
import { mayArriveFor } from '../clock.ts'
import { planFolder } from '../plan.ts'
import { lookAt, type MirrorLocation, type OnDisk, perhapsRenamedTo } from '../scan/index.ts'
import { fileAt, folderAbove, fullPath, isAtOrBelow, nameOf } from '../tree-path.ts'
import { deletionSteps } from './deletion-steps.ts'
import { folderOf, type GoneFolder, goneFolderSteps } from './gone-folder.ts'
import {
  everythingWaits,
  flatSteps,
  type MirrorContext,
  type OutlookContext,
  type Step,
  step,
  uploadSteps,
} from './steps.ts'

/**
 * The state of a path: the state of its record, or one of these.
 * gone_on_host: it would be synced or linked, but an audit found its image gone from the host.
 * unseen: it lies on the disk, and no scan has seen it yet.
 * absent: it does not lie on the disk, and has no record.
 * left_out: it lies on the disk, and is not mirrored.
 * unknown: it can't be looked at, or it is in doubt.
 * folder: it is a folder that is mirrored.
 */
export type PathState = FileState | 'gone_on_host' | 'unseen' | 'absent' | 'left_out' | 'unknown' | 'folder'

/** What is recorded of a path. */
export interface Recorded {
  file: FileRow | undefined
  isFolder: boolean
  /** The image that the file uses. */
  image: ImageRow | undefined
  /** Whether the file is synced or linked to an image that an audit found gone from the host. */
  goneOnHost: boolean
  /** The path of the album that `image` lies in; '' is the root. */
  album: string
  /** That the picture moved, or perhaps moved: from this path when it is gone, and to this path when it is new. */
  move: Reason | null
  /** The images of this path that are in escrow. */
  escrow: EscrowRow[]
  /** The uploads of this path that are in doubt. */
  inDoubt: OpenUpload[]
  failure: FailureRow | undefined
  /** When a person accepted the failure: milliseconds since 1970. */
  acceptedAt: number | undefined
  history: HistoryRow[]
}

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

const NOTHING: Recorded = {
  file: undefined,
  isFolder: false,
  image: undefined,
  goneOnHost: false,
  album: '',
  move: null,
  escrow: [],
  inDoubt: [],
  failure: undefined,
  acceptedAt: undefined,
  history: [],
}

/** The outlook of one path. Reads the records and looks at the disk, and changes nothing. */
export function outlook(context: OutlookContext & { disk: Disk }, location: MirrorLocation): Outlook {
  const { synced, disk } = context
  const { mirror, path } = location
  const row = synced.mirrors.of(mirror.folder)
  const onDisk = lookAt(disk, location)
  const recorded = row ? recordsOf(synced, row, path) : NOTHING
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

/**
 * The state in which people see a file. A picture that failed and is tried again is failed until the new try has ended, as
 * in the counts of the summaries.
 */
export function shownState({ failures }: Pick<Synced, 'failures'>, file: FileRow): FileState {
  return file.state === 'pending' && failures.ofUpload(file) ? 'failed' : file.state
}

function recordsOf(synced: Synced, { id }: MirrorRow, path: string): Recorded {
  const above = path === '' ? undefined : synced.folders.at(id, folderAbove(path))
  const scanned = fileAt(synced, id, path)
  const file = scanned && { ...scanned, state: shownState(synced, scanned) }
  const image = file?.image == null ? undefined : synced.images.byId(file.image)
  return {
    file,
    isFolder: synced.folders.at(id, path) !== undefined,
    image,
    goneOnHost:
      image !== undefined &&
      (file?.state === 'synced' || file?.state === 'linked') &&
      synced.audit.has('gone', image.remote_id),
    album: albumName(synced, image?.album ?? null),
    move: scanned ? moveAt(synced, scanned, image) : null,
    escrow: synced.escrow.atPath(id, path),
    inDoubt: above ? synced.journal.openOnFile({ folder: above.id, name: nameOf(path) }) : [],
    failure: above ? synced.failures.of(above.id, nameOf(path)) : undefined,
    acceptedAt: above ? synced.failures.acceptedAt({ folder: above.id, name: nameOf(path) }) : undefined,
    history: synced.history.of({ mirror: id, path }),
  }
}

function moveAt(synced: Synced, file: FileRow, image: ImageRow | undefined): Reason | null {
  if (image) return file.state === 'gone' ? moveOf(synced, image) : null
  return file.state === 'pending' ? cameFrom(synced, file) : null
}

/** From where a new picture moved, or perhaps moved, or null. Once it was read, its bytes tell. */
export function cameFrom(synced: Pick<Synced, 'escrow' | 'summaries'>, file: FileRow): Reason | null {
  const { hash, name } = file
  const path = hash === null ? synced.summaries.movedFrom(file) : synced.escrow.pathOfBytes({ hash, name })
  return path === undefined ? null : because(hash === null ? 'perhaps_moved_from' : 'moved_from', { path })
}

/** Why a path is in doubt, because its root or a folder above it is in doubt; or null. */
function doubtOf(synced: Synced, row: MirrorRow, path: string): Reason | null {
  if (row.guard_code === 'ROOT') return row.guard
  const folder = synced.folders.unknown(row.id).find(doubtful => isAtOrBelow(path, doubtful.path))
  return folder ? because('at_path', { path: fullPath(row.folder, folder.path), why: folder.unknown }) : null
}

/**
 * What `outlook` has found out about a path. `isRenamed`: the path is missing, and may have got a name that is not valid
 * UTF-8.
 */
interface Subject {
  location: MirrorLocation
  onDisk: OnDisk
  recorded: Recorded
  counts: TreeSummary | null
  gone: GoneFolder | null
  isRenamed: boolean
}

function stateOf(subject: Subject): [PathState, Reason] {
  const { onDisk, recorded } = subject
  const { file } = recorded
  switch (onDisk.kind) {
    case 'unknown':
      return ['unknown', onDisk.why]
    case 'misnamed':
      return ['failed', onDisk.reason]
    case 'left_out':
      return [file?.state ?? 'left_out', onDisk.reason]
    case 'folder':
      return ['folder', because('folder_mirrored')]
    case 'picture':
      if (!file) return ['unseen', because('not_scanned')]
      return [recorded.goneOnHost ? 'gone_on_host' : file.state, withChange(file, subject)]
    case 'absent':
      return stateOfAbsent(subject)
  }
}

function stateOfAbsent(subject: Subject): [PathState, Reason] {
  const { recorded, gone, isRenamed } = subject
  const { file, history, inDoubt, isFolder } = recorded
  if (isRenamed && (file ? file.state === 'hidden' : isFolder)) return ['unknown', because('perhaps_renamed')]
  if (file) {
    const left = history.findLast(({ event }) => event === 'left_out')?.detail
    const isUnknown = file.state === 'hidden' && left != null && codeOf(left) === 'perhaps_renamed'
    return [isUnknown ? 'unknown' : file.state, withChange(file, subject)]
  }
  if (inDoubt.length > 0) return ['uncertain', because('gone_uncertain')]
  const last = history.at(-1)
  if (last) return ['absent', whatBecame(last)]
  return ['absent', gone || isFolder ? because('folder_gone', gone) : because('not_known')]
}

function whatBecame({ event, detail }: HistoryRow): Reason {
  if (!detail) return because('last_event', { event })
  return event === 'deleted' ? because('image_deleted', { why: detail }) : detail
}

/** Why a file is in its state. When the file has changed since the last scan, the answer says this too. */
function withChange(file: FileRow, { location, onDisk, recorded, isRenamed }: Subject): Reason {
  const seen = onDisk.kind === 'picture' ? [onDisk.look] : []
  const problem = { name: '', code: 'NAME_NOT_UTF8', message: because('name_not_utf8') } as const
  const look = { files: seen, aside: [], ignored: [], problems: isRenamed ? [problem] : [] }
  // A record has the ctime 0 when the next scan is to read the picture's bytes. This does not mean that the file has
  // changed.
  const record = { ...file, ctime: file.ctime || (seen[0]?.ctime ?? 0) }
  const { deletions } = location.mirror
  const [change] = planFolder(file.folder, [record], look, { deletions, prunes: () => false }, 0)
  const before = whyInState(file, recorded)
  return change && codeOf(change.reason) !== 'new'
    ? because('since_then', { before, now: change.reason })
    : before
}

function whyInState(file: FileRow, { goneOnHost, history, failure, album, move }: Recorded): Reason {
  if (goneOnHost) return because('image_not_found')
  const last = (event: HistoryEvent) => history.findLast(row => row.event === event)?.detail
  switch (file.state) {
    case 'synced':
      return file.flat > 0 ? because('in_sync_flat', { album }) : because('in_sync')
    case 'pending': {
      const why = whyPending(file, history)
      return codeOf(why) === 'new' && move ? move : why
    }
    case 'linked':
      return because('linked_by_name')
    case 'failed':
    case 'uncertain':
      return failure
        ? because('upload_failed', { why: failure.message, code: failure.code })
        : because('cause_not_recorded')
    case 'gone':
      return move ?? last('gone') ?? because('gone')
    case 'kept':
      return last('kept') ?? because('image_kept')
    case 'hidden':
      return last('left_out') ?? because('left_out')
  }
}

/** When one of these events follows a change in the history, the change needs no upload any more. */
const DONE: ReadonlySet<HistoryEvent> = new Set(['uploaded', 'adopted', 'linked', 'unchanged', 'arrived'])

/** Why a file is to be uploaded or compared. */
export function whyPending({ image }: Pick<FileRow, 'image'>, history: readonly HistoryRow[]): Reason {
  const done = history.findLastIndex(({ event }) => DONE.has(event))
  const since = history.slice(done + 1).findLast(({ event }) => event === 'changed' || event === 'lost')
  return since?.detail ?? because(image === null ? 'new' : 'touched')
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
        : flatSteps(context, recorded.file?.flat ?? 0, location.mirror.deletions)
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
  const isAccepted = recorded.acceptedAt !== undefined
  const accept = step(because(isAccepted ? 'failure_accepted' : 'accept_failure', { path }))
  // A file that gets a valid name is another file, so neither a change nor `retry` makes this failure good.
  if (onDisk.kind === 'misnamed') return recorded.failure ? [accept] : [step(because('looked_at_again'))]
  return [...tried, step(because('retry_now', { path })), accept, ...(halt ? [halt] : [])]
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
