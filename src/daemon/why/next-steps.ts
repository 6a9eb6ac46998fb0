import type { Config } from '../../config/schema.ts'
import { readQuota } from '../../sync/quota/index.ts'
import type { GoneSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import { inWords } from '../../words/reasons.ts'
import { shellWord } from '../../words/shell-word.ts'
import { uploadsWaitUntil } from '../loop/rest.ts'
import { allowanceOf } from '../report/quota-status.ts'
import type { Status } from '../report/status.ts'
import { pauseAt } from '../state/pause.ts'
import { type Explanation, type Step, timeOf } from './explanation.ts'
import { triedAgainAt } from './tried-again.ts'

export interface StepParts {
  config: Config
  synced: Synced
  /** Of the account and the process. */
  status: Pick<Status, 'running' | 'blocks'> & {
    quota: Pick<Status['quota'], 'exhausted' | 'resumes_at' | 'next_probe_at' | 'limit' | 'reserve'>
  }
  /** Milliseconds since 1970. */
  now: number
  /** Whether the root of the path's mirror is in doubt: then nothing is sent or deleted. */
  rootInDoubt: boolean
}

function step(what: string, at: number | null = null, command: string | null = null): Step {
  return { what, at: at === null ? null : timeOf(at), command }
}

/** What is known of a picture that is to be uploaded. Milliseconds since 1970. */
export interface Waiting {
  /** When the file changed, or null. */
  changed: number | null
  /** When it was found; null: it is found with the next look. */
  since: number | null
}

/** What keeps all uploads, or lets them go. */
export function uploadSteps(parts: StepParts, picture: Waiting): Step[] {
  const { synced, status } = parts
  const halted = everythingHalted(parts)
  if (halted) return [halted]
  const steps = [
    ...(status.running ? unhurriedSteps(parts, picture) : []),
    ...quotaSteps(parts, picture),
    ...blockSteps(parts),
  ]
  if (!status.running) return [...steps, steps.length > 0 ? NOT_RUNNING_EITHER : NOT_RUNNING]
  if (steps.length > 0) return steps
  const ahead = synced.files.pendingTotal(synced.mirrors.all().map(({ id }) => id)).pictures - 1
  const upload = step(ahead > 0 ? `${UPLOADED}: ${ahead} other pictures wait as well` : UPLOADED)
  uploads.add(upload)
  return [upload]
}

const UPLOADED = 'it is uploaded'

/** The steps that say that nothing but the picture itself can keep it from being uploaded. */
const uploads = new WeakSet<Step>()

/** Whether nothing but the picture itself can keep it from being uploaded. */
export function isUpload(next: Step): boolean {
  return uploads.has(next)
}

/** What the daemon alone waits for; `sync` is asked for by somebody who waits. */
function unhurriedSteps({ config, now }: StepParts, { changed }: Waiting): Step[] {
  const steps: Step[] = []
  const { settle } = config.watch
  if (changed !== null && changed + settle > now && changed <= now)
    steps.push(step('it must be left alone for watch.settle first', changed + settle))
  const opens = uploadsWaitUntil(config.uploads.hours, now)
  if (opens !== null) steps.push(step('uploads wait for their hours (uploads.hours)', opens))
  return steps
}

function quotaSteps({ config, synced, status, now }: StepParts, { since }: Waiting): Step[] {
  const { exhausted, resumes_at, next_probe_at } = status.quota
  if (exhausted) {
    const until = resumes_at ?? next_probe_at
    const what = resumes_at === null ? 'the host is asked again' : 'it goes on'
    const said = `it waits for quota: today's uploads are used up; ${what}`
    return [step(said, until === null ? null : Date.parse(until))]
  }
  const { limit, reserve } = status.quota
  const { began, ends, used } = readQuota(synced, allowanceOf(config), now)
  const isKept = reserve > 0 && limit - used <= reserve
  // What is found today may have the reserve.
  if (!isKept || since === null || since >= began) return []
  const said = "what is left of today's uploads is kept for new pictures (quota.reserve); it goes on"
  return [step(said, ends)]
}

function blockSteps({ config, status }: StepParts): Step[] {
  return status.blocks.flatMap(block => {
    const { endpoint, code, message } = block
    const what = UPLOADING[endpoint]
    if (!what) return []
    const again = status.running ? triedAgainAt(block, config.quota.probe_every) : null
    return [step(`${what}: ${message} (${code}); it is tried again`, again)]
  })
}

const UPLOADING: Partial<Record<string, string>> = {
  upload: 'the host takes no uploads',
  send: 'the upload node takes nothing',
  list: 'albums are looked at before the first upload, and the host does not list them',
}

const NOT_RUNNING = step('albumd does not run: it goes on with', null, 'albumd sync')
const NO_GRACE_PASSES = step('albumd does not run: the grace passes while this runs', null, 'albumd run')
const NOT_RUNNING_EITHER = step('albumd does not run: after that it goes on with', null, 'albumd sync')

/** Null: nothing keeps all work. */
export function everythingWaits(parts: StepParts): Step | null {
  return everythingHalted(parts) ?? (parts.status.running ? null : NOT_RUNNING)
}

/** Null: work goes on where somebody does it. */
function everythingHalted({ synced, now, rootInDoubt }: StepParts): Step | null {
  if (rootInDoubt) return step('nothing of this mirror is sent or deleted while its folder is in doubt')
  const paused = pauseAt(synced, now)
  return paused && step('albumd is paused: nothing is sent or deleted', paused.until, 'albumd resume')
}

/** What becomes of the images of pictures below a folder that is gone. */
export function goneFolderSteps(
  parts: StepParts,
  { held }: GoneSummary,
  next: EscrowRow | undefined,
  path: string,
): Step[] {
  const at = shellWord(path)
  const ofHeld = [
    step('let what is held be deleted with', null, `albumd deletions approve ${at}`),
    step('or keep what is held for good with', null, `albumd deletions discard ${at}`),
  ]
  const ofWaiting = next ? deletionSteps(parts, next, path, 'the first of those that wait') : []
  return [...ofWaiting, ...(held > 0 ? ofHeld : [])]
}

/** What becomes of the image of `given`, at `path` (absolute). */
export function deletionSteps(
  parts: StepParts,
  given: EscrowRow,
  path: string,
  what = given.reason === 'superseded' ? 'the image of its older version' : 'its image',
): Step[] {
  const { synced, status, now } = parts
  const at = shellWord(path)
  if (given.state === 'held' || given.state === 'unproved') {
    const why =
      given.state === 'held'
        ? 'too many were to be deleted at once'
        : 'it was only linked, and its bytes could not be compared'
    return [
      step(`${what} is held (${why}): let it be deleted with`, null, `albumd deletions approve ${at}`),
      step(`or keep ${what} for good with`, null, `albumd deletions discard ${at}`),
    ]
  }
  const waits = everythingWaits(parts)
  const guard = synced.mirrors.all().find(mirror => mirror.guard !== null)?.guard
  const left = Math.max(0, given.due_at - (synced.meta.get('running_ms') ?? 0))
  const postponed = whyPostponed(synced, given)
  const blocked = status.blocks.find(({ endpoint }) => endpoint === 'delete')
  const steps: Step[] = [waitingStep(what, left, postponed, status.running && !waits ? now + left : null)]
  if (left > 0 && postponed && !waits) steps.push(step('or at once with', null, `albumd retry ${at}`))
  if (guard != null && !parts.rootInDoubt)
    steps.push(step(`but nothing is deleted while a folder is in doubt: ${inWords(guard)}`))
  if (blocked) {
    const again = status.running ? triedAgainAt(blocked, parts.config.quota.probe_every) : null
    steps.push(
      step(`but the host deletes nothing: ${blocked.message} (${blocked.code}); it is tried again`, again),
    )
  }
  if (synced.files.openLike(hashOf(synced, given), sizeOf(synced, given)).length > 0)
    steps.push(step('but a picture of its size has yet to find its image: it may have moved there'))
  if (!waits) return steps
  // A grace that `run` began is not ended by `sync`.
  return [...steps, left > 0 && !postponed && waits === NOT_RUNNING ? NO_GRACE_PASSES : waits]
}

/** `left`: of the time that albumd runs. `postponed`: what the host said; null where the grace is what is waited for. */
function waitingStep(what: string, left: number, postponed: string | null, at: number | null): Step {
  if (left === 0) return step(`${what} is deleted, once everything was looked at again`)
  const until = postponed
    ? `is tried again later, for the host would not delete it (${postponed})`
    : 'is deleted once the grace has ended'
  const minutes = Math.ceil(left / 60_000)
  return step(`${what} ${until}: about ${minutes} min are left of the time that albumd runs`, at)
}

/** What the host said when it would not delete the image; null: it waits for the end of its grace. */
function whyPostponed({ history }: Synced, given: EscrowRow): string | null {
  if (given.postponed === 0) return null
  const said = history.of(given).findLast(({ event }) => event === 'postponed')?.detail
  return said ? inWords(said) : 'it has not said why'
}

function hashOf(synced: Synced, { image }: EscrowRow): Buffer {
  return synced.images.byId(image)!.hash
}

function sizeOf(synced: Synced, { image }: EscrowRow): number {
  return synced.images.byId(image)!.size
}

/** What happens to a path whose upload failed, or whose outcome is not known. */
export function troubleSteps(
  parts: StepParts,
  { state, failure, path }: Pick<Explanation, 'state' | 'failure' | 'path'>,
): Step[] {
  const again = failure?.next_attempt_at == null ? null : Date.parse(failure.next_attempt_at)
  const at = shellWord(path)
  const waits = everythingWaits(parts)
  const steps =
    state === 'uncertain'
      ? [
          step('it is looked for on the host; at the latest it is known then', again),
          step(
            'or have it sent again, at the risk of having it twice, with',
            null,
            `albumd retry --resend ${at}`,
          ),
        ]
      : [
          again === null ? step('it is tried again once the file changes') : step('it is tried again', again),
          step('or at once with', null, `albumd retry ${at}`),
        ]
  return waits ? [...steps, waits] : steps
}

export function plainStep(what: string, command: string | null = null): Step {
  return step(what, null, command)
}
