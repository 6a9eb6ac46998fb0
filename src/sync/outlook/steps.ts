import { type OpenPicture, PictureFileError, whyNoPicture } from '../../local/picture-file.ts'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { needsPerson, remedyOfCode } from '../../remote/failures.ts'
import type { Synced } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import { because, ofWholeHost, quotaRemedy, type Reason } from '../../words/reasons.ts'
import type { Claims } from '../claims.ts'
import type { HoldPolicy } from '../deletions/index.ts'
import { type Allowance, onlyReserveLeft, readQuota, triedAgainAt } from '../quota/index.ts'
import type { MirrorLocation } from '../scan/index.ts'
import { type IncompletePolicy, waitForEnd } from '../uploads/index.ts'

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
  uploadForm: 'credential' | 'presign'
  settleMs: number
  incomplete: IncompletePolicy
  paused: { until: number | null } | null
  /** Until when no upload begins (`uploads.hours`); null: uploads may begin now. */
  uploadsWaitUntil: number | null
  /** Until when pictures wait after a state loss; null: they do not wait for that. */
  lossEndsAt: number | null
  credentialLifetimeMs: number
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

export function everythingHalted({
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
  const blocks = blockWaits(context)
  const waits = [
    ...blocks.forPerson,
    ...(running ? daemonWaits(context, picture.changed) : []),
    ...(lossEndsAt === null ? [] : [step(because('sent_before_loss', { until: null }), lossEndsAt)]),
    ...quotaWaits(context, picture.since),
    ...blocks.passing,
  ]
  if (!running) {
    const isTimed = waits.some(({ at }) => at !== null)
    return [...waits, step(because(isTimed ? 'run_sync_then' : 'run_sync'))]
  }
  if (waits.length > 0) return waits
  const { pictures } = synced.files.toSend(synced.mirrors.all().map(({ id }) => id))
  return [step(because('will_be_uploaded', { ahead: Math.max(0, pictures - 1) }))]
}

/** Waits that only a daemon keeps. `albumd sync` does not wait, because a person who types it wants pictures sent now. */
function daemonWaits({ settleMs, now, uploadsWaitUntil }: OutlookContext, changed: number | null): Step[] {
  const isYoung = changed !== null && changed <= now && changed + settleMs > now
  return [
    ...(isYoung ? [step(because('settles'), changed + settleMs)] : []),
    ...(uploadsWaitUntil === null ? [] : [step(because('outside_hours'), uploadsWaitUntil)]),
  ]
}

export function quotaWaits(
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
export function blockStep(
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
