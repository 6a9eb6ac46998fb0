import { mayBeRegrouped, retried } from '../../records/pictures.ts'
import type { Remedy } from '../../remote/host.ts'
import type { Tx } from '../../synced/synced.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { Clock } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import type { Pass } from '../pass-request.ts'
import type { Allowance } from './quota-state.ts'

/** A refused key is tried again after this time. */
const HOUR_MS = 3_600_000

/** At the start of a pass: lets requests be tried again that the host refused long enough ago. */
export async function reviewAccount(context: EngineContext, { task }: Pass): Promise<void> {
  await noticePlan(context)
  if (task === 'look') return
  unblockEndpoints(context)
  await askAboutSize(context)
}

/**
 * Unblocks endpoints that were refused long enough ago, but not uploads that wait for quota: the upload queue probes a
 * used-up quota.
 */
function unblockEndpoints({ synced, host, clock, allowance }: EngineContext): void {
  const recorded = new Set(synced.account.blocks().map(({ endpoint }) => endpoint))
  for (const { endpoint, remedy, since } of host.blocks()) {
    const every = tryAgainAfterMs(remedy, allowance)
    // A block whose record is gone is tried at once, because a person has typed "albumd retry".
    if (every === null) continue
    if (clock.monotonic() - since >= every || !recorded.has(endpoint)) host.unblock(endpoint)
  }
}

/**
 * How many milliseconds after its refusal an endpoint is tried again. Null: another rule decides. The upload queue probes a
 * used-up quota, and the gate waits out an outage.
 */
export function tryAgainAfterMs(
  remedy: Remedy,
  { probeEveryMs }: Pick<Allowance, 'probeEveryMs'>,
): number | null {
  if (remedy === 'key') return HOUR_MS
  return remedy === 'plan' || remedy === 'storage' ? probeEveryMs : null
}

/**
 * When the config names another plan, forgets what the host said before, because that plan has another quota and other
 * limits.
 */
async function noticePlan({ synced, allowance: { plan } }: EngineContext): Promise<void> {
  const before = synced.meta.get('plan')
  if (before === plan) return
  await synced.commit(tx => {
    tx.meta.set('plan', plan)
    if (before === null) return
    forgetSizeLimit(tx)
    tx.account.forgetExhaustion()
    tx.account.clearBlocks([])
    mayBeRegrouped(tx)
  })
}

type Context = Pick<EngineContext, 'synced' | 'clock' | 'allowance'>

/** The code of a file that is larger than the plan allows. §8 does not name the limit, so albumd learns it from answers. */
export const TOO_LARGE = 'FILE_TOO_LARGE'
/** How often a refused picture is sent again, to ask whether the limit has grown. */
const ASK_EVERY_MS = 86_400_000

/** Why a file of this size is not sent, because the host refused a file of this size or a smaller file; or null. */
export function whyTooLarge(context: Context, size: number): Reason | null {
  const limit = context.synced.meta.get('size_limit')
  if (limit === null || size < limit.refused || isDue(limit, context)) return null
  return because('too_large', { refused: limit.refused, plan: context.allowance.plan })
}

/** The host refused a file of this size. When it took larger files before, the refusal concerns this file alone. */
export function noteTooLarge(tx: Tx, clock: Clock, size: number): void {
  if (size <= (tx.meta.get('largest_taken') ?? 0)) return
  const refused = Math.min(size, tx.meta.get('size_limit')?.refused ?? size)
  tx.meta.set('size_limit', { refused, askedAt: clock.wall() })
}

/** The host took a file of this size. When it refused smaller files before, its limit has grown, so they are retried. */
export function noteTaken(tx: Tx, size: number): void {
  if (size > (tx.meta.get('largest_taken') ?? 0)) tx.meta.set('largest_taken', size)
  const limit = tx.meta.get('size_limit')
  if (limit === null || size < limit.refused) return
  tx.meta.clear('size_limit')
  retried(tx, tx.failures.uploadsOfCode(TOO_LARGE))
}

/** Once a day the smallest refused file is sent again, to learn whether the limit has grown. */
async function askAboutSize(context: Context): Promise<void> {
  const { synced } = context
  const limit = synced.meta.get('size_limit')
  if (limit === null || !isDue(limit, context)) return
  const [smallest] = synced.failures.uploadsOfCode(TOO_LARGE)
  if (smallest) await synced.commit(tx => retried(tx, [smallest]))
}

/** Another plan has another limit, so refused files are tried again. */
function forgetSizeLimit(tx: Tx): void {
  tx.meta.clear('size_limit')
  tx.meta.clear('largest_taken')
  retried(tx, tx.failures.uploadsOfCode(TOO_LARGE))
}

/** Whether the host may be asked again. The difference has no sign, so that a clock that was set back does not delay this. */
function isDue({ askedAt }: { askedAt: number }, { clock }: Pick<Context, 'clock'>): boolean {
  return Math.abs(clock.wall() - askedAt) >= ASK_EVERY_MS
}
