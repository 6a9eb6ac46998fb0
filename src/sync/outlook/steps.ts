import { type OpenPicture, PictureFileError, whyNoPicture } from '../../local/picture-file.ts'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { type Deletions, graceOf } from '../../records/escrow.ts'
import { movedTo, waitingMove } from '../../records/history.ts'
import { needsPerson, remedyOfCode } from '../../remote/failures.ts'
import type { Synced } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import {
  because,
  codeOf,
  type ImageName,
  ofWholeHost,
  quotaRemedy,
  type Reason,
} from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import type { Claims } from '../claims.ts'
import { runningTime } from '../clock.ts'
import {
  doubtAbout,
  endsDeletion,
  type HoldPolicy,
  isGraceOver,
  whyImageStays,
  willBeHeld,
} from '../deletions/index.ts'
import { type Allowance, onlyReserveLeft, readQuota, triedAgainAt } from '../quota/index.ts'
import type { MirrorLocation } from '../scan/index.ts'
import { folderAbove, isBelow } from '../tree-path.ts'
import { type IncompletePolicy, waitForEnd, whyFlatStays } from '../uploads/index.ts'

/** What an outlook is made from: the records, the config and the time. Times are milliseconds since 1970. */
export interface OutlookContext {
  synced: Synced
  claims: Pick<Claims, 'doubt' | 'isOwn'>
  now: number
  /** Whether a daemon runs. */
  running: boolean
  /** The config's mirrors. */
  mirrors: readonly { folder: string }[]
  allowance: Allowance
  hold: HoldPolicy
  regroup: 'auto' | 'never'
  uploadForm: 'credential' | 'presign'
  settleMs: number
  incomplete: IncompletePolicy
  paused: { until: number | null } | null
  /** Until when no upload begins (`uploads.hours`); null: uploads may begin now. */
  uploadsWaitUntil: number | null
  /** Until when pictures wait after a state loss; null: they do not wait for that. */
  lossEndsAt: number | null
}

/** Something that will happen, or that a person can do. For a person, `commandOf` tells the command. */
export interface Step {
  why: Reason
  /** The earliest time at which it happens, in milliseconds since 1970; null: nobody can tell. */
  at: number | null
}

/**
 * A context for one mirror. `rootInDoubt`: whether the mirror's root is in doubt, so that nothing of the mirror is sent or
 * deleted.
 */
export type MirrorContext = OutlookContext & { rootInDoubt: boolean }

type DeletionContext = Pick<
  MirrorContext,
  'synced' | 'claims' | 'mirrors' | 'now' | 'running' | 'allowance' | 'paused' | 'rootInDoubt'
>

export function step(why: Reason, at: number | null = null): Step {
  return { why, at }
}

/**
 * Why no picture of a mirror is sent and no image is deleted now, or null. One reason is that no daemon runs, so a person
 * must type a command first.
 */
export function everythingWaits(context: MirrorContext): Step | null {
  return everythingHalted(context) ?? (context.running ? null : step(because('run_sync')))
}

function everythingHalted({
  paused,
  rootInDoubt,
}: Pick<MirrorContext, 'paused' | 'rootInDoubt'>): Step | null {
  if (rootInDoubt) return step(because('root_in_doubt'))
  return paused && step(because('all_paused'), paused.until)
}

/**
 * What happens with a picture that is to be uploaded. `changed`: when the file changed last. `since`: when a scan found the
 * file; null: no scan has seen the file yet.
 */
export function uploadSteps(
  context: MirrorContext,
  picture: { changed: number | null; since: number | null },
): Step[] {
  const { synced, running, lossEndsAt } = context
  const halted = everythingHalted(context)
  if (halted) return [halted]
  const silent = running ? hostSilence(synced, context.now) : null
  const blocks = blockWaits(context)
  const waits = [
    ...blocks.forPerson,
    ...(running ? daemonWaits(context, picture.changed) : []),
    ...(lossEndsAt === null ? [] : [step(because('sent_before_loss', { until: null }), lossEndsAt)]),
    ...quotaWaits(context, picture.since),
    ...blocks.passing,
    ...(silent ? [step(silent)] : []),
  ]
  if (!running) {
    const isTimed = waits.some(({ at }) => at !== null)
    return [...waits, step(because(isTimed ? 'run_sync_then' : 'run_sync'))]
  }
  if (waits.length > 0) return waits
  const { pictures } = synced.files.toSend(synced.mirrors.all().map(({ id }) => id))
  return [step(because('will_be_uploaded', { ahead: Math.max(0, pictures - 1) }))]
}

/** What happens with a picture that lies flat. No steps for other pictures. */
export function flatSteps(context: MirrorContext, flat: FileRow['flat'], deletions: Deletions): Step[] {
  if (flat === 0) return []
  const why = whyFlatStays(context, deletions)
  if (why !== null) return [step(because('flat_stays', { why }))]
  if (flat === 2) return [step(because('flat_refused'))]
  const waits = everythingWaits(context)
  return [step(because('flat_goes')), ...(waits ? [waits] : [])]
}

/** Waits that only a daemon keeps. `albumd sync` does not wait, because a person who types it wants pictures sent now. */
function daemonWaits({ settleMs, now, uploadsWaitUntil }: OutlookContext, changed: number | null): Step[] {
  const isYoung = changed !== null && changed <= now && changed + settleMs > now
  return [
    ...(isYoung ? [step(because('settles'), changed + settleMs)] : []),
    ...(uploadsWaitUntil === null ? [] : [step(because('outside_hours'), uploadsWaitUntil)]),
  ]
}

function quotaWaits(
  { synced, allowance, now }: Pick<OutlookContext, 'synced' | 'allowance' | 'now'>,
  since: number | null,
): Step[] {
  const quota = readQuota(synced, allowance, now)
  if (quota.exhausted) {
    const { resumes, ask } = quota.exhausted
    const waits = step(because('quota_used_up', { known: resumes !== null }), resumes ?? ask)
    const remedy = quotaRemedy(synced.account.blocks())
    return remedy ? [waits, step(remedy)] : [waits]
  }
  // A picture that was found today does not wait, because it may use the reserve.
  const waits = since !== null && since < quota.began && onlyReserveLeft(allowance, quota)
  return waits ? [step(because('reserve_kept'), quota.ends)] : []
}

const BLOCKED = { upload: 'uploads_blocked', send: 'node_blocked', list: 'listing_blocked' } as const

/** That the host leaves a request unanswered, or null. Later a block says that the host is away. */
export function hostSilence({ meta, account }: Pick<Synced, 'meta' | 'account'>, now: number): Reason | null {
  const silence = meta.get('host_silent')
  if (silence === null || account.blocks().some(block => ofWholeHost(block) === 'host_away')) return null
  return because('no_answer_yet', { where: silence.where, ms: Math.max(0, now - silence.since) })
}

/** What only a person can end is told before everything that passes. */
function blockWaits(context: OutlookContext): { forPerson: Step[]; passing: Step[] } {
  const all = context.synced.account.blocks()
  const stepsOf = (blocks: readonly BlockRow[]) => {
    const steps = blocks.flatMap(block => {
      // `quotaWaits` has answered the step for a used-up quota already.
      if (remedyOfCode(block.code) === 'quota') return []
      const code = ofWholeHost(block) ?? BLOCKED[block.endpoint as Endpoint & keyof typeof BLOCKED]
      return code ? [blockStep(context, code, block)] : []
    })
    // A host that is away is recorded for each endpoint that was asked.
    return [...new Map(steps.map(step => [step.why, step])).values()]
  }
  return {
    forPerson: stepsOf(all.filter(({ code }) => needsPerson(code))),
    passing: stepsOf(all.filter(({ code }) => !needsPerson(code))),
  }
}

/** A daemon tries a blocked endpoint again by itself, so the step tells the time of this try. */
function blockStep(
  { running, allowance }: Pick<OutlookContext, 'running' | 'allowance'>,
  words: (typeof BLOCKED)[keyof typeof BLOCKED] | 'key_refused' | 'host_away' | 'deletions_blocked',
  { code, message, since, said_at }: BlockRow,
): Step {
  const at = running ? triedAgainAt({ code, since, said_at }, allowance) : null
  return step(because(words, { code, message, isTried: at !== null }), at)
}

/** Reads the whole picture, and answers what in its bytes keeps it from being sent, or null. */
export async function contentStep(
  { settleMs, incomplete }: Pick<OutlookContext, 'settleMs' | 'incomplete'>,
  { mirror, path }: MirrorLocation,
  openPicture: (root: string, path: string) => Promise<OpenPicture>,
): Promise<Step | null> {
  try {
    const open = await openPicture(mirror.folder, path)
    await open.close()
    if (!open.picture) return step(because('will_fail', { why: whyNoPicture(open) }))
    const waits = waitForEnd(open.ending, incomplete, settleMs)
    if (waits === null) return null
    const { message: why, becomes, afterMs } = waits
    return step(
      because(becomes === 'sent' ? 'sent_whole_or_not' : 'sent_whole_alone', { why }),
      open.look.ctime / 1000 + afterMs,
    )
  } catch (error) {
    if (error instanceof PictureFileError) return step(error.why)
    throw error
  }
}

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
  of: ImageName = imageOf(entry),
): Step[] {
  const { synced, hold } = context
  const { mirror } = entry
  const running = runningTime(synced, context)
  const areMany = () => willBeHeld(synced, mirror, synced.summaries.mirror(mirror), hold, running)
  const waits = deletionWaits({ ...context, areMany }, entry, of)
  if (codeOf(waits[0]!.why) === 'image_stays') return waits
  const isHeld = waitsForPerson(entry)
  // Of a folder that is gone, a person decides on all images together.
  if (of === 'first' || (!isHeld && !isInGrace(context, entry))) {
    const isTried = codeOf(waits[0]!.why) === 'host_refused' && timePasses(context)
    return isTried ? [...waits, step(because('retry_now', { path }))] : waits
  }
  const isMissed = of === 'image' && whereNow(synced, entry) === null
  const back = isMissed ? bringBack(context, entry, folderAbove(entry.path), folderAbove(path)) : []
  const decide = isHeld ? because('approve_image', { path }) : because('end_grace', { path })
  const move = openMove(synced, entry)
  const mayGo = move === null || (isHeld && move.isRead) ? [step(decide)] : []
  return [...waits, ...back, ...mayGo, step(because('keep_image', { of, path }))]
}

/** Where the picture of an image in escrow lies now, or null. A restore would bring a picture that moved a second time. */
export function whereNow(synced: Synced, { image }: EscrowRow): string | null {
  return movedTo(synced, synced.images.byId(image)!)
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
