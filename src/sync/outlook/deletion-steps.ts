import { graceOf } from '../../records/escrow.ts'
import { movedTo, waitingMove } from '../../records/moves.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import { because, codeOf, type ImageName, ofWholeHost, type Reason } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import { runningTime } from '../clock.ts'
import { doubtAbout, endsDeletion, isGraceOver, whyImageStays, willBeHeld } from '../deletions/index.ts'
import { folderAbove, isBelow } from '../tree-path.ts'

import { blockStep, everythingHalted, type MirrorContext, quotaWaits, type Step, step } from './steps.ts'

type DeletionContext = Pick<
  MirrorContext,
  'synced' | 'claims' | 'mirrors' | 'now' | 'running' | 'allowance' | 'paused' | 'rootInDoubt'
>

/** Pictures of a folder that are missed within so long after each other count as lost together. */
const TOGETHER_MS = 60_000

/**
 * How the pictures of a folder come back as they were before this picture was missed, and those that were lost together with
 * it. `folder`: below the mirror. `full`: its absolute path. No step while the root is in doubt, because a restore may refuse
 * the folder then. No step either while a file that is not read yet may be one of the pictures, because a restore would
 * bring a picture that moved a second time.
 */
export function bringBack(
  { synced, rootInDoubt }: Pick<MirrorContext, 'synced' | 'rootInDoubt'>,
  { mirror, since }: EscrowRow,
  folder: string,
  full: string,
): Step[] {
  const lost = synced.escrow
    .ofMirror(mirror)
    .filter(({ path, reason }) => reason === 'deleted' && isBelow(path, folder))
  if (rootInDoubt || lost.some(entry => mayHaveMoved(synced, entry))) return []
  let first = since
  for (const loss of lost.map(entry => entry.since).sort((a, b) => b - a))
    if (loss < first && loss >= first - TOGETHER_MS) first = loss
  return [step(because('bring_back', { folder: full, at: isoTime(first - 1) }))]
}

/** Whether a file that is not read yet may be the image's picture. Until then nobody is advised to delete the image. */
export function mayHaveMoved(synced: Synced, entry: EscrowRow): boolean {
  return openMove(synced, entry)?.isRead === false
}

/** `waitingMove` of an image in escrow. While there is one, the end of the grace does not delete the image. */
export function openMove(synced: Synced, { image }: EscrowRow): ReturnType<typeof waitingMove> {
  return waitingMove(synced, synced.images.byId(image)!)
}

/** What happens with an image in escrow, and what a person can do about it. `path`: absolute, for commands. */
export function deletionSteps(
  context: MirrorContext,
  entry: EscrowRow,
  path: string,
  ofFolder?: 'first',
): Step[] {
  const { synced, hold } = context
  const { mirror } = entry
  // What a person decides is about all images of the path.
  const images = synced.escrow.atPath(mirror, entry.path).length
  const ofPath = images > 1 ? { id: synced.images.byId(entry.image)!.remote_id } : imageOf(entry)
  const of = ofFolder ?? ofPath
  const running = runningTime(synced, context)
  const areMany = () => willBeHeld(synced, mirror, synced.summaries.mirror(mirror), hold, running)
  const waits = deletionWaits({ ...context, areMany }, entry, of)
  if (codeOf(waits[0]!.why) === 'image_stays') return waits
  const isHeld = waitsForPerson(entry)
  // Of a folder that is gone, a person decides on all images together.
  if (ofFolder || (!isHeld && !isInGrace(context, entry))) {
    const isTried = codeOf(waits[0]!.why) === 'host_refused' && timePasses(context)
    return isTried ? [...waits, step(because('retry_now', { path }))] : waits
  }
  const isMissed = imageOf(entry) === 'image' && whereNow(synced, entry) === null
  const back = isMissed ? bringBack(context, entry, folderAbove(entry.path), folderAbove(path)) : []
  const [decide, keep] =
    images > 1
      ? [
          because(isHeld ? 'approve_folder' : 'end_graces', { path, images }),
          because('keep_folder', { path, images }),
        ]
      : [because(isHeld ? 'approve_image' : 'end_grace', { path }), because('keep_image', { of, path })]
  const move = openMove(synced, entry)
  const mayGo = move === null || (isHeld && move.isRead) ? [step(decide)] : []
  return [...waits, ...back, ...mayGo, step(keep)]
}

/** Where the picture of an image in escrow lies now, or null. A restore would bring a picture that moved a second time. */
export function whereNow(synced: Synced, { image }: EscrowRow): string | null {
  return movedTo(synced, synced.images.byId(image)!)?.path ?? null
}

export function imageOf({ reason }: EscrowRow): 'image' | 'older' {
  return reason === 'superseded' ? 'older' : 'image'
}

/** Whether the image is deleted only after a person has approved it. */
export function waitsForPerson({ state }: EscrowRow): boolean {
  return state === 'held' || state === 'unproved'
}

/**
 * What an image in escrow waits for. When this is only one thing with a known time, the image is deleted then. `areMany`:
 * whether the images of the mirror that are in grace will be held before they go.
 */
export function deletionWaits(
  context: DeletionContext & { areMany(): boolean },
  entry: EscrowRow,
  of: ImageName = imageOf(entry),
): Step[] {
  const { synced } = context
  const { state } = entry
  const image = synced.images.byId(entry.image)!
  const move = waitingMove(synced, image)
  const moves = move ? moveSteps(context, move, of) : []
  if (state === 'held' || state === 'unproved')
    return [step(because('image_held', { of, held: state })), ...moves]
  const stays = whyImageStays(context, image, null)
  if (stays && endsDeletion(stays)) return [step(because('image_stays', { of, why: stays }))]
  if (state === 'grace' && context.areMany() && synced.escrow.isCounted(image.id)) {
    const halted = everythingHalted(context)
    return [step(because('will_be_held')), ...(halted ? [halted] : [])]
  }
  const person = personStarts(context, entry, moves)
  const grace = move ? graceAfter(context, entry, moves) : [graceStep(context, entry, of)]
  const stops = deletionStops(context, move ? null : stays)
  // An image that something stops is not deleted now, though its grace is over.
  const isStopped = stops.length > 0 && isGraceOver(entry, runningTime(synced, context))
  return [
    ...moves,
    ...withDoubt(context, entry, isStopped ? grace.map(({ why }) => step(why)) : grace),
    ...stops,
    ...(person ? [person] : []),
  ]
}

/** The end of a grace is no time at which an image goes while a folder is in doubt. Then one step tells of both. */
function withDoubt(context: DeletionContext, entry: EscrowRow, grace: readonly Step[]): readonly Step[] {
  const { synced, mirrors, rootInDoubt } = context
  const found = rootInDoubt ? null : doubtAbout(synced, mirrors)
  if (!found) return grace
  // The doubt about a folder says itself that deletions wait.
  const why = codeOf(found) === 'folder_in_doubt' ? found : because('doubt_elsewhere', { why: found })
  const left = entry.due_at - runningTime(synced, context)
  if (grace.length === 0 || left <= 0 || entry.postponed === 1)
    return [...grace.map(one => step(one.why)), step(why)]
  return [step(because('doubt_and_grace', { why, ms: left }))]
}

/** The grace of an image whose picture moves, if the grace ends after what the move waits for. */
function graceAfter(context: DeletionContext, entry: EscrowRow, moves: readonly Step[]): Step[] {
  const left = entry.due_at - runningTime(context.synced, context)
  const moved = Math.max(context.now, ...moves.map(({ at }) => at ?? 0))
  if (context.now + left <= moved) return []
  return [step(because('not_before_grace', { ms: left }), timePasses(context) ? context.now + left : null)]
}

/** What an image waits for whose picture has moved, or may have moved, to a file that waits for its upload. */
function moveSteps(
  context: DeletionContext,
  { path, isRead }: NonNullable<ReturnType<typeof waitingMove>>,
  of: ImageName,
): Step[] {
  const code = isRead ? 'goes_once_sent' : 'goes_once_told_apart'
  return [step(because(code, { of, path })), ...quotaWaits(context, null)]
}

/**
 * What keeps an image that waits for no person from its deletion, beside a doubt and its grace. `stays`: the answer of
 * `whyImageStays`.
 */
function deletionStops(context: DeletionContext, stays: Reason | null): Step[] {
  const { synced, claims } = context
  const blocked = synced.account
    .blocks()
    .find(block => block.endpoint === 'delete' || ofWholeHost(block) !== null)
  const inDoubt = claims.doubt()
  const halted = everythingHalted(context)
  return [
    ...(blocked ? [blockStep(context, ofWholeHost(blocked) ?? 'deletions_blocked', blocked)] : []),
    ...(inDoubt ? [step(because('but_stays', { why: inDoubt }))] : []),
    ...(stays ? [step(because('but_stays', { why: stays }))] : []),
    ...(halted ? [halted] : []),
  ]
}

export function isInGrace(context: DeletionContext, entry: EscrowRow): boolean {
  return entry.postponed === 0 && graceOf(entry, runningTime(context.synced, context)) === 'runs'
}

/** Whether a grace passes now: a daemon runs, and nothing halts the mirror. */
function timePasses(context: DeletionContext): boolean {
  return context.running && everythingHalted(context) === null
}

/** What a person types so that an image whose deletion waits for no person is deleted, or null. */
function personStarts(context: DeletionContext, entry: EscrowRow, moves: readonly Step[]): Step | null {
  const { synced, running } = context
  if (running || everythingHalted(context)) return null
  // The grace passes only while a daemon runs, so a person is told to start the daemon, and not to type `albumd sync`.
  if (isInGrace(context, entry)) return step(because('run_daemon'))
  // A picture that moved is sent first.
  if (moves.length > 0)
    return step(because(moves.some(({ at }) => at !== null) ? 'run_sync_then' : 'run_sync'))
  return step(because(graceOf(entry, runningTime(synced, context)) === 'none' ? 'goes_by_sync' : 'run_sync'))
}

/** The step of an image that waits for the end of its grace, or for another try after the host refused its deletion. */
function graceStep(context: DeletionContext, entry: EscrowRow, of: ImageName): Step {
  const { synced, now } = context
  const running = runningTime(synced, context)
  if (isGraceOver(entry, running)) return step(because('goes_next', { of }), timePasses(context) ? now : null)
  const left = entry.due_at - running
  const at = timePasses(context) ? now + left : null
  if (entry.postponed === 0) return step(because('grace_runs', { of, ms: left }), at)
  const why = synced.history.of(entry).findLast(({ event }) => event === 'postponed')?.detail ?? null
  return step(because('host_refused', { of, ms: left, why }), at)
}
