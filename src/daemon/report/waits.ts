import type { Config } from '../../config/schema.ts'
import { type Millis, systemClock } from '../../protocol/clock.ts'
import { type Grace, graceOf } from '../../records/escrow.ts'
import { FORMAT_REFUSED, needsPerson, remedyOfCode } from '../../remote/failures.ts'
import { lossEndsAt, runningTime } from '../../sync/clock.ts'
import { doubtAbout } from '../../sync/deletions/index.ts'
import { onlyReserveLeft, readQuota, triedAgainAt } from '../../sync/quota/index.ts'
import { fullPath, isAtOrBelow } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import {
  because,
  codeOf,
  endsByItself,
  type ImageName,
  ofWholeHost,
  quotaRemedy,
  type Reason,
} from '../../words/reasons.ts'
import { pauseAt } from '../state/pause.ts'
import { claimsInRecords } from './claims.ts'
import { allowanceOf } from './quota-status.ts'
import { type Wait, wait } from './step.ts'
import { uploadsWaitUntil } from './upload-hours.ts'

export interface WaitContext {
  config: Config
  synced: Synced
  running: boolean
  now: Millis
}

/** Why the whole account sends or deletes nothing. What a person must end comes first. `since`: when a scan found the picture,
 * which decides about the reserve; null: there is no picture. */
export function accountWaits(
  context: WaitContext,
  what: 'upload' | 'delete',
  since: Millis | null = null,
): Wait[] {
  const { config, synced, running, now } = context
  const paused = pauseAt(synced, now)
  if (paused) return [wait(because('all_paused'), paused.until)]
  const blocks = blockWaits(context, what)
  if (what === 'delete') {
    const doubt = claimsInRecords(config, synced, running).doubt()
    return [
      ...blocks.forPerson,
      ...blocks.passing,
      ...(doubt ? [wait(because('but_stays', { why: doubt }))] : []),
    ]
  }
  // `albumd sync` ignores the hours, because a person who types it wants pictures sent now.
  const opens = running ? uploadsWaitUntil(config.uploads.hours, now) : null
  const loss = lossEndsAt(synced, config.host.credential_lifetime, systemClock)
  return [
    ...blocks.forPerson,
    ...(opens === null ? [] : [wait(because('outside_hours'), opens)]),
    ...(loss === null ? [] : [wait(because('sent_before_loss', { until: null }), loss)]),
    ...quotaWaits(context, since),
    ...blocks.passing,
  ]
}

function quotaWaits({ config, synced, now }: WaitContext, since: Millis | null): Wait[] {
  const allowance = allowanceOf(config)
  const quota = readQuota(synced, allowance, now)
  if (quota.exhausted) {
    const { resumes, ask } = quota.exhausted
    const remedy = quotaRemedy(synced.account.blocks())
    const used = wait(because('quota_used_up'), resumes ?? ask)
    return remedy ? [used, wait(remedy)] : [used]
  }
  // A picture that was found today may use the reserve.
  const isKept = since !== null && since < quota.began && onlyReserveLeft(allowance, quota)
  return isKept ? [wait(because('reserve_kept'), quota.ends)] : []
}

function blockWaits(context: WaitContext, what: 'upload' | 'delete'): { forPerson: Wait[]; passing: Wait[] } {
  const waits = context.synced.account.blocks().flatMap(block => {
    const { endpoint } = block
    const remedy = remedyOfCode(block.code)
    // A refused format is recorded with the pictures that wait for it.
    if (block.code === FORMAT_REFUSED) return []
    // `quotaWaits` tells of the quota. A plan without albums stops nothing: pictures then lie in other albums.
    if (remedy === 'quota' || (endpoint === 'create_album' && remedy === 'plan')) return []
    const own = (endpoint === 'delete') === (what === 'delete') ? 'endpoint_blocked' : null
    const code = ofWholeHost(block) ?? own
    return code ? [{ isForPerson: needsPerson(block.code), ...blockWait(context, code, block) }] : []
  })
  // A host that is away is recorded for each endpoint that was asked, and told once.
  const all = [...new Map(waits.map(one => [one.why, one])).values()]
  return {
    forPerson: all.filter(({ isForPerson }) => isForPerson),
    passing: all.filter(({ isForPerson }) => !isForPerson),
  }
}

/** The wait for a blocked endpoint, which only a daemon ends by itself. */
function blockWait(
  { running, config }: WaitContext,
  words: 'endpoint_blocked' | 'key_refused' | 'host_away',
  { endpoint, code, message, since, said_at }: BlockRow,
): Wait {
  const until = running ? triedAgainAt({ code, since, said_at }, allowanceOf(config)) : null
  return wait(because(words, { endpoint, code, message }), until)
}

/** Why a path is in doubt: its root or a folder above it is. Null: it is not in doubt. */
export function doubtOf(synced: Synced, row: MirrorRow, path: string): Reason | null {
  if (row.guard_code === 'ROOT') return row.guard
  const folder = synced.folders.unknown(row.id).find(doubtful => isAtOrBelow(path, doubtful.path))
  return folder ? because('at_path', { path: fullPath(row.folder, folder.path), why: folder.unknown }) : null
}

/** What a picture that is to be sent waits for. `since`: when a scan found it. None: it goes with the next pass. */
export function uploadWaits(
  context: WaitContext,
  file: { folder: number; name: string; since: Millis | null } | undefined,
): Wait[] {
  const account = accountWaits(context, 'upload', file?.since ?? null)
  const own = file && context.synced.waits.of(file)
  return own ? [...account, wait(own.why, own.until, own.at)] : account
}

export function waitsForPerson({ state }: Pick<EscrowRow, 'state'>): boolean {
  return state === 'held' || state === 'unproved'
}

export function imageOf({ reason }: Pick<EscrowRow, 'reason'>): 'image' | 'older' {
  return reason === 'superseded' ? 'older' : 'image'
}

export function lastingDoubt({ config, synced }: Pick<WaitContext, 'config' | 'synced'>): Reason | null {
  const doubt = doubtAbout(synced, config.mirrors)
  return doubt !== null && !endsByItself(doubt) ? doubt : null
}

/** What an image in escrow waits for: its own wait, the account's, the mirror's, and without a daemon a command. There is a time
 * only for a grace that nothing stops. */
export function deletionWaits(
  context: WaitContext,
  entry: EscrowRow,
  of: ImageName = imageOf(entry),
): Wait[] {
  const { config, synced } = context
  const own = ownWait(context, entry, of)
  if (waitsForPerson(entry)) return [own]
  const doubt = doubtAbout(synced, config.mirrors)
  const stops = [...accountWaits(context, 'delete'), ...(doubt ? [wait(doubt)] : [])]
  const isPaused = pauseAt(synced, context.now) !== null
  const isShut = lastingDoubt(context) !== null
  return [
    ...(isShut && codeOf(own.why) === 'goes_next' ? [] : [stops.length > 0 ? { ...own, until: null } : own]),
    ...stops,
    ...(context.running || isPaused || isShut ? [] : [startOf(context, entry)]),
  ]
}

export function imageWaits(
  context: WaitContext,
  mirror: number,
): (Wait & { images: number; path: string })[] {
  return context.synced.escrow.left(mirror).map(({ images, ...entry }) => {
    return { images, path: entry.path, ...ownWait(context, entry, images > 1 ? 'each' : imageOf(entry)) }
  })
}

function ownWait(context: WaitContext, entry: EscrowRow, of: ImageName): Wait {
  const { synced, running } = context
  const { state, due_at, postponed, why, why_at } = entry
  if (state === 'held' || state === 'unproved') return wait(because('image_held', { of, held: state }))
  const left = due_at - runningTime(synced, context)
  const ms = running ? null : left
  const until = running ? timeOf(context, due_at) : null
  if (entry.many_until !== null && isInGrace(context, entry))
    return left > 0
      ? wait(because('many_wait', { of, why, ms }), until)
      : wait(because('many_wait', { of, why, ms: null }), entry.many_until)
  if (left > 0 && postponed === 0) return wait(because('grace_runs', { of, ms }), until)
  if (left > 0) return wait(because('host_refused', { of, ms, why }), until, why_at)
  return why ? wait(because('image_stays', { of, why }), null, why_at) : wait(because('goes_next', { of }))
}

export function timeOf(context: WaitContext, running: number): Millis {
  return context.now + running - runningTime(context.synced, context)
}

function graceNow(context: WaitContext, entry: EscrowRow): Grace {
  return graceOf(entry, runningTime(context.synced, context), context.now)
}

/** Whether the image waits for the end of its grace, which passes only while a daemon runs, or by the clock as one of many. */
export function isInGrace(context: WaitContext, entry: EscrowRow): boolean {
  const grace = graceNow(context, entry)
  return entry.postponed === 0 && (grace === 'runs' || grace === 'clock')
}

function startOf(context: WaitContext, entry: EscrowRow): Wait {
  const grace = graceNow(context, entry)
  if (grace === 'clock') return wait(because('later_sync'))
  if (isInGrace(context, entry)) return wait(because('run_daemon'))
  return wait(because(grace === 'none' && entry.why === null ? 'goes_by_sync' : 'run_sync'))
}

/** The command that sends what waits, where no daemon does: at once, or after these waits of the account. */
export function goesBySync(context: WaitContext, account: readonly Wait[]): Wait[] {
  if (context.running) return []
  const isEarly = account.some(({ until }) => until !== null && until > context.now)
  return [wait(because(isEarly ? 'later_sync' : 'run_sync'))]
}
