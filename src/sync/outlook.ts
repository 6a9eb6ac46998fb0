import type { ErrorCode } from '../protocol/errors.ts'
import type { GoneSummary } from '../synced/summary.ts'
import type { Synced } from '../synced/synced.ts'
import type { EscrowRow } from '../synced/tables/escrow.ts'
import type { FileState } from '../synced/tables/files.ts'
import { because, type Reason, type WhichImage } from '../words/reasons.ts'
import { shellWord } from '../words/shell-word.ts'
import { doubtAbout, whyImageStays } from './deletions/index.ts'
import { type Allowance, readQuota } from './quota/index.ts'

/**
 * The outlook of a path: what happens next, when, why, and what a person can do. It comes from the records, and from the
 * questions that a pass asks before it acts. `why`, the dry run and the status page show it; none of them finds reasons of
 * its own.
 */
export interface NextStep {
  why: Reason
  /** When, at the earliest: milliseconds since 1970. Null: nobody knows. */
  at: number | null
  /** A command for a person, to be copied into a shell. */
  command: string | null
}

/** What the outlook depends on beside the records of the path. Times in `status` are ISO 8601, as in `status --json`. */
export interface OutlookContext {
  synced: Synced
  /** Milliseconds since 1970. */
  now: number
  mirrors: readonly { folder: string }[]
  allowance: Allowance
  settleMs: number
  /** The pause that a person has asked for, or null. */
  paused: { until: number | null } | null
  /** When uploads.hours begin, or null when uploads may go now. */
  uploadsWaitUntil: number | null
  /** Whether the root of the path's mirror is in doubt. Then nothing of the mirror is sent or deleted. */
  rootInDoubt: boolean
  status: {
    /** Whether a daemon runs. */
    running: boolean
    blocks: readonly { endpoint: string; code: string; message: string; said_at: string }[]
    quota: {
      exhausted: boolean
      resumes_at: string | null
      next_probe_at: string | null
      limit: number
      reserve: number
    }
  }
}

export function next(why: Reason, command: string | null = null, at: number | null = null): NextStep {
  return { why, at, command }
}

/** The outlook of a picture that is to be uploaded. `changed`: when the file changed. `since`: when a scan found it. */
export function uploadOutlook(
  context: OutlookContext,
  picture: { changed: number | null; since: number | null },
): NextStep[] {
  const { synced, status } = context
  const halted = haltOfAll(context)
  if (halted) return [halted]
  const steps = [
    ...(status.running ? daemonWaits(context, picture.changed) : []),
    ...quotaWaits(context, picture.since),
    ...blockWaits(context),
  ]
  if (!status.running) return [...steps, notRunning(steps.length > 0)]
  if (steps.length > 0) return steps
  const ahead = synced.files.pendingTotal(synced.mirrors.all().map(({ id }) => id)).pictures - 1
  return [next(because('upload_due', { ahead: Math.max(0, ahead) }))]
}

/** What the daemon waits for, and `albumd sync` does not. */
function daemonWaits(
  { settleMs, uploadsWaitUntil, now }: OutlookContext,
  changed: number | null,
): NextStep[] {
  const steps: NextStep[] = []
  if (changed !== null && changed + settleMs > now && changed <= now)
    steps.push(next(because('upload_settles'), null, changed + settleMs))
  if (uploadsWaitUntil !== null) steps.push(next(because('upload_hours'), null, uploadsWaitUntil))
  return steps
}

function quotaWaits({ synced, status, allowance, now }: OutlookContext, since: number | null): NextStep[] {
  const { exhausted, resumes_at, next_probe_at, limit, reserve } = status.quota
  if (exhausted) {
    const until = resumes_at ?? next_probe_at
    const why = because('quota_used_up', { resumes: resumes_at !== null })
    return [next(why, null, until === null ? null : Date.parse(until))]
  }
  const { began, ends, used } = readQuota(synced, allowance, now)
  const isKept = reserve > 0 && limit - used <= reserve
  // A picture that was found today may use the reserve.
  return isKept && since !== null && since < began ? [next(because('reserve_kept'), null, ends)] : []
}

function blockWaits(context: OutlookContext): NextStep[] {
  return context.status.blocks.flatMap(block => {
    const { endpoint, code, message: words } = block
    if (endpoint !== 'upload' && endpoint !== 'send' && endpoint !== 'list') return []
    return [next(because('upload_blocked', { endpoint, words, code }), null, triedAgainAt(context, block))]
  })
}

const HOUR_MS = 3_600_000
const KEY: ReadonlySet<string> = new Set<ErrorCode>(['MISSING_API_KEY', 'INVALID_API_KEY'])
const ACCOUNT: ReadonlySet<string> = new Set<ErrorCode>(['PLAN_NOT_SUPPORTED', 'STORAGE_LIMIT_REACHED'])

/** When a daemon asks about a block again. Null when none runs, or when the waits grow, as during an outage. */
function triedAgainAt(
  { status, allowance }: OutlookContext,
  { code, said_at }: { code: string; said_at: string },
): number | null {
  const every = KEY.has(code) ? HOUR_MS : ACCOUNT.has(code) ? allowance.probeEveryMs : null
  return every === null || !status.running ? null : Date.parse(said_at) + every
}

/** What keeps all work of the path's mirror from being done, or null. */
export function haltOrNobody(context: OutlookContext): NextStep | null {
  return haltOfAll(context) ?? (context.status.running ? null : notRunning(false))
}

function haltOfAll({ rootInDoubt, paused }: OutlookContext): NextStep | null {
  if (rootInDoubt) return next(because('root_in_doubt'))
  return paused && next(because('paused_by_person'), 'albumd resume', paused.until)
}

function notRunning(after: boolean): NextStep {
  return next(because('not_running', { after }), 'albumd sync')
}

/** The outlook of the images below a folder that is gone. `first`: the entry that is due first. `path`: absolute. */
export function goneFolderOutlook(
  context: OutlookContext,
  { held }: GoneSummary,
  first: EscrowRow | undefined,
  path: string,
): NextStep[] {
  const at = shellWord(path)
  const ofWaiting = first ? deletionOutlook(context, first, path, 'first') : []
  if (held === 0) return ofWaiting
  return [
    ...ofWaiting,
    next(because('approve_held'), `albumd deletions approve ${at}`),
    next(because('discard_held'), `albumd deletions discard ${at}`),
  ]
}

/** The outlook of an image that waits for its deletion. `path`: absolute. */
export function deletionOutlook(
  context: OutlookContext,
  entry: EscrowRow,
  path: string,
  which: WhichImage = entry.reason === 'superseded' ? 'older' : 'own',
): NextStep[] {
  const { synced, status, now, mirrors, rootInDoubt } = context
  const at = shellWord(path)
  if (entry.state === 'held' || entry.state === 'unproved')
    return [
      next(because('deletion_held', { which, state: entry.state }), `albumd deletions approve ${at}`),
      next(because('deletion_discard', { which }), `albumd deletions discard ${at}`),
    ]
  const halted = haltOrNobody(context)
  const left = Math.max(0, entry.due_at - (synced.meta.get('running_ms') ?? 0))
  const postponed = whyPostponed(synced, entry)
  const steps = [
    next(
      left === 0
        ? because('deletion_due', { which })
        : because('deletion_waits', { which, minutes: Math.ceil(left / 60_000), postponed }),
      null,
      left > 0 && status.running && !halted ? now + left : null,
    ),
  ]
  if (left > 0 && postponed && !halted) steps.push(next(because('deletion_retry'), `albumd retry ${at}`))
  const doubt = rootInDoubt ? null : doubtAbout(synced, mirrors)
  if (doubt !== null) steps.push(next(because('deletion_in_doubt', { why: doubt })))
  const block = status.blocks.find(({ endpoint }) => endpoint === 'delete')
  if (block) {
    const { message: words, code } = block
    steps.push(next(because('deletion_blocked', { words, code }), null, triedAgainAt(context, block)))
  }
  const stays = whyImageStays(synced, synced.images.byId(entry.image)!, null)
  if (stays !== null) steps.push(next(because('deletion_stays', { why: stays })))
  if (!halted) return steps
  // A grace that `albumd run` began does not pass during `albumd sync`.
  const isGrace = left > 0 && postponed === null && haltOfAll(context) === null
  return [...steps, isGrace ? next(because('grace_needs_daemon'), 'albumd run') : halted]
}

/** What the host said when it refused the deletion, or null when the entry waits for the end of its grace. */
function whyPostponed({ history }: Synced, entry: EscrowRow): Reason | null {
  if (entry.postponed === 0) return null
  return history.of(entry).findLast(({ event }) => event === 'postponed')?.detail ?? because('not_said')
}

/** The outlook of a file whose upload failed, or whose upload is in doubt. `path`: absolute. */
export function failureOutlook(
  context: OutlookContext,
  state: FileState,
  nextAttemptAt: number | null,
  path: string,
): NextStep[] {
  const at = shellWord(path)
  const steps =
    state === 'uncertain'
      ? [
          next(because('looked_for'), null, nextAttemptAt),
          next(because('may_be_resent'), `albumd retry --resend ${at}`),
        ]
      : [
          next(because('retried', { onChange: nextAttemptAt === null }), null, nextAttemptAt),
          next(because('retried_at_once'), `albumd retry ${at}`),
        ]
  const halted = haltOrNobody(context)
  return halted ? [...steps, halted] : steps
}
