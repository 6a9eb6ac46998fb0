import { movedTo, waitingMove } from '../../records/moves.ts'
import { mayArriveFor } from '../../sync/clock.ts'
import type { MirrorLocation, OnDisk } from '../../sync/scan/index.ts'
import { folderAbove, fullPath, isBelow } from '../../sync/tree-path.ts'
import type { GoneSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { Location } from '../../synced/tables/history.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf, type Reason, reasonIn } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import type { PathState, Recorded } from './path-state.ts'
import { type Wait, wait } from './step.ts'
import {
  accountWaits,
  deletionWaits,
  goesBySync,
  imageOf,
  isInGrace,
  lastingDoubt,
  uploadWaits,
  type WaitContext,
  waitsForPerson,
} from './waits.ts'

export interface Subject {
  location: MirrorLocation
  row: MirrorRow | undefined
  onDisk: OnDisk
  recorded: Recorded
  state: PathState
  reason: Reason
  isInDoubt: boolean
  gone: GoneSummary | null
}

export function nextSteps(context: WaitContext, subject: Subject): Wait[] {
  const { location, row, recorded, state, gone, onDisk, isInDoubt } = subject
  const { mirror, path } = location
  const full = fullPath(mirror.folder, path)
  const isClosed = (isInDoubt || onDisk.kind === 'unknown') && row?.guard_code !== 'ROOT'
  const own = isClosed && state === 'pending' ? [] : stepsOf(context, subject, full)
  const kept =
    recorded.image?.kept === 1 && recorded.file?.state !== 'kept' ? [wait(because('kept_once'))] : []
  const deletions = [
    ...recorded.escrow.flatMap(entry => deletionSteps(context, entry, full)),
    ...(row && gone ? goneFolderSteps(context, { mirror: row.id, path }, full) : []),
  ]
  const guard = row?.guard ?? null
  // Whether the guard of the mirror must be told: it may be told already as what stops the deletions.
  const isTold = guard === null || deletions.some(({ why }) => reasonIn(why, codeOf(guard)) === guard)
  const steps = [
    ...own,
    ...kept,
    ...(isTold ? [] : [wait(guard)]),
    ...(isClosed ? [wait(because('nothing_sent_there'))] : []),
    ...deletions,
  ]
  return [...new Map(steps.map(one => [one.why, one])).values()]
}

function stepsOf(context: WaitContext, subject: Subject, path: string): Wait[] {
  const { onDisk, recorded, state, reason, row } = subject
  const { file } = recorded
  const command = context.running ? [] : [wait(because('run_sync'))]
  const halted = row?.guard_code === 'ROOT' ? [wait(because('root_in_doubt'))] : null
  const isChanged = codeOf(reason) === 'since_then'
  if (!halted && !context.running && isChanged && isUnmissed(subject)) return unmissedSteps(context, path)
  switch (state) {
    case 'pending':
    case 'unseen':
      return halted ?? pendingSteps(context, recorded)
    case 'failed':
      return failedSteps(context, subject, path, halted ?? command)
    case 'uncertain':
      return [...uncertainSteps(context, recorded, path), ...(halted ?? command)]
    case 'linked':
      return [wait(because('compare_links'))]
    case 'gone_on_host':
      return [wait(because('repair_gone'))]
    case 'kept':
      return [wait(because('kept_stays'))]
    case 'hidden':
    case 'left_out':
      return [leftOutStep(onDisk, recorded)]
    case 'synced':
      if (isChanged) return halted ?? [...command, wait(because('looked_at_again'))].slice(0, 1)
      return file?.flat ? [wait(because('flat_stays'))] : []
    case 'folder':
      return folderSteps(context, subject, halted)
    default:
      return []
  }
}

function uncertainSteps(context: WaitContext, { file, inDoubt, failure }: Recorded, path: string): Wait[] {
  const last = inDoubt.at(-1)
  const ends = last ? last.since + mayArriveFor(context.config.host.credential_lifetime) : null
  return [
    wait(because('looked_for'), failure?.next_attempt_at ?? ends),
    ...(file ? [wait(because('resend', { path }))] : []),
  ]
}

/** Whether a picture is gone from the disk and no scan has missed it yet. Its image is to be deleted. */
function isUnmissed({ onDisk, recorded, location, state }: Subject): boolean {
  const isInUse = state === 'synced' || state === 'linked' || state === 'pending'
  const goes = recorded.image?.kept === 0 && location.mirror.deletions === 'propagate'
  return onDisk.kind === 'absent' && isInUse && goes
}

/** Without a daemon a picture deleted by mistake has no grace, so what a person can do comes before a sync. */
function unmissedSteps(context: WaitContext, path: string): Wait[] {
  return [
    wait(lastingDoubt(context) ?? because('goes_by_sync')),
    wait(because('bring_back', { folder: folderAbove(path), at: isoTime(context.now - 1) })),
    wait(because('keep', { images: 1, path })),
  ]
}

function pendingSteps(context: WaitContext, { file }: Recorded): Wait[] {
  // Comparing asks the host for nothing, so it does not wait for the account.
  if (file && context.synced.files.isToCompare(file))
    return context.running ? [wait(because('will_be_compared'))] : goesBySync(context, [])
  const waits = uploadWaits(context, file)
  if (context.running && waits.length === 0) return [wait(because('will_be_uploaded'))]
  const account = accountWaits(context, 'upload', file?.since ?? null)
  const isPaused = waits.some(({ why }) => codeOf(why) === 'all_paused')
  return isPaused ? waits : [...waits, ...goesBySync(context, account)]
}

function failedSteps(
  context: WaitContext,
  { recorded }: Subject,
  path: string,
  halted: readonly Wait[],
): Wait[] {
  const again = recorded.failure?.next_attempt_at ?? null
  const isDue = again !== null && again <= context.now
  const later = again === null ? wait(because('tried_once_changed')) : wait(because('tried_again'), again)
  return [
    ...(isDue ? pendingSteps(context, recorded) : [later]),
    wait(because('retry_now', { path })),
    ...halted,
  ]
}

function leftOutStep(onDisk: OnDisk, { image }: Recorded): Wait {
  if (onDisk.kind !== 'left_out') return wait(because('looked_at_again'))
  if (!image) return wait(because('not_mirrored'))
  return wait(because(onDisk.why === 'ignored' ? 'prune_ignored' : 'hidden_image_stays'))
}

/** What brings back a folder's pictures that are gone from the host, and what the pictures that are to be sent wait for. */
function folderSteps(context: WaitContext, { row, location }: Subject, halted: Wait[] | null): Wait[] {
  const { synced } = context
  if (!row) return []
  const { path } = location
  const repair = synced.summaries.below(row.id, path).states.gone_on_host
    ? [wait(because('repair_gone'))]
    : []
  const since = synced.summaries.sendSince({ mirror: row.id, path })
  if (since === null) return repair
  if (halted) return [...repair, ...halted]
  const own = synced.waits.below({ mirror: row.id, path }).map(({ why, until, at }) => wait(why, until, at))
  const account = accountWaits(context, 'upload', since)
  return [...repair, ...account, ...own, ...goesBySync(context, account)]
}

/** What an image in escrow waits for, and what a person can decide about it. `path`: absolute, for commands. */
function deletionSteps(context: WaitContext, entry: EscrowRow, path: string): Wait[] {
  const { synced } = context
  // The decision of a person is about all images of the path.
  const images = synced.escrow.atPath(entry.mirror, entry.path).length
  const of = images > 1 ? { id: synced.images.byId(entry.image)!.remote_id } : imageOf(entry)
  const waits = deletionWaits(context, entry, of)
  const isHeld = waitsForPerson(entry)
  if (!isHeld && !isInGrace(context, entry))
    return entry.postponed === 1 && context.running ? [...waits, wait(because('retry_now', { path }))] : waits
  const back = bringBack(context, [entry], folderAbove(entry.path), folderAbove(path))
  const decide = because(isHeld ? 'approve' : 'end_grace', { path, images })
  const keep = because('keep', { path, images })
  return [...waits, ...back, ...(isMoving(synced, entry) ? [] : [wait(decide)]), wait(keep)]
}

/** What the images of a folder that is gone wait for. A person decides about all of them together. */
function goneFolderSteps(context: WaitContext, folder: Location, full: string): Wait[] {
  const { synced } = context
  const entries = synced.escrow.below(folder)
  if (entries.length === 0) return []
  const first = entries.find(entry => !waitsForPerson(entry))
  const images = entries.length
  const areInGrace = entries.some(entry => !waitsForPerson(entry) && isInGrace(context, entry))
  const isDecided = areInGrace || entries.some(waitsForPerson)
  const mayGo = isDecided && !entries.some(entry => isMoving(synced, entry))
  return [
    ...(first ? deletionWaits(context, first, 'first') : []),
    ...bringBack(context, entries, folder.path, full),
    ...(mayGo ? [wait(because(areInGrace ? 'end_grace' : 'approve', { path: full, images }))] : []),
    wait(because('keep', { path: full, images })),
  ]
}

/** Whether the image's picture waits elsewhere for its upload, or may. Then the end of the grace deletes nothing. */
function isMoving(synced: Synced, { image }: EscrowRow): boolean {
  return waitingMove(synced, synced.images.byId(image)!) !== null
}

/** Pictures of a folder that are missed within this time of each other count as lost together. */
const TOGETHER_MS = 60_000

/** How a folder comes back as it was before the last of these images lost its picture. No step where pictures moved or may have,
 * nor while the root is in doubt, because a restore may refuse then. `folder`: below the mirror. `full`: absolute. */
function bringBack(
  { synced }: WaitContext,
  entries: readonly EscrowRow[],
  folder: string,
  full: string,
): Wait[] {
  const isMissed = ({ reason, image }: EscrowRow) =>
    reason === 'deleted' && movedTo(synced, synced.images.byId(image)!) === null
  const missed = entries.filter(isMissed)
  const [one] = missed
  if (!one || synced.mirrors.byId(one.mirror)?.guard_code === 'ROOT') return []
  const lost = synced.escrow
    .ofMirror(one.mirror)
    .filter(({ path, reason }) => reason === 'deleted' && isBelow(path, folder))
  if (lost.some(entry => isMissed(entry) && isMoving(synced, entry))) return []
  let first = Math.max(...missed.map(({ since }) => since))
  for (const { since } of lost.toSorted((a, b) => b.since - a.since))
    if (since < first && since >= first - TOGETHER_MS) first = since
  return [wait(because('bring_back', { folder: full, at: isoTime(first - 1) }))]
}
