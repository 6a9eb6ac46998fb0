import { type Clock, DAY_MS, HOUR_MS, type Millis } from '../../protocol/clock.ts'
import { retried } from '../../records/pictures.ts'
import { remedyOfCode } from '../../remote/failures.ts'
import type { Block, HostFailure, Remedy } from '../../remote/host.ts'
import type { Tx } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { EngineContext, QuotaPort } from '../context.ts'
import type { Pass } from '../pass-request.ts'
import type { Allowance } from './quota-state.ts'

/** At the start of a pass: lets requests be tried again when the host's refusal is old enough. */
export async function reviewAccount(context: EngineContext, pass: Pass): Promise<void> {
  const { task, stopped } = pass
  await noticePlan(context)
  if (task === 'look') return
  unblockEndpoints(context)
  const failure = await tryKey(context, pass)
  if (failure) {
    stopped.push(failure)
    context.emit({ event: 'uploads_stopped', code: failure.code, message: failure.message })
  }
  await askAboutSize(context)
}

/** Asks the host with a new key, and with a key that it refused before, once the key may be tried again. Otherwise nobody
 * would know whether the host accepts the key until something else is asked. */
async function tryKey(
  { host }: EngineContext,
  { isKeyNew = false, interruption }: Pass,
): Promise<HostFailure | null> {
  const isRefused = (blocks: readonly Block[]) => blocks.some(({ remedy }) => remedy === 'key')
  if (isRefused(host.blocks()) || !(isKeyNew || isRefused(host.blocks('untried')))) return null
  const page = await host.list(null, 1, interruption.cut)
  // With a plan that lists nothing, the host accepts the key all the same.
  return page.ok || page.failure.remedy === 'plan' ? null : page.failure
}

/** Unblocks endpoints whose last refusal is old enough, except uploads without quota: the upload queue asks. */
function unblockEndpoints({ synced, host, clock, allowance }: EngineContext): void {
  const recorded = new Set(synced.account.blocks().map(({ endpoint }) => endpoint))
  for (const { endpoint, remedy, since } of host.blocks()) {
    const every = tryAgainAfterMs(remedy, allowance)
    if (every === null) continue
    // After a change of the plan, `noticePlan` has deleted the records of blocks. Then the endpoints are tried at once.
    if (clock.monotonic() - since >= every || !recorded.has(endpoint)) host.unblock(endpoint)
  }
}

/** How often a running daemon tries again what waits for the end of an outage. */
export const RETRY_MS = 60_000

/** When a running daemon tries a blocked endpoint again. In an outage its next pass tries again. */
export function triedAgainAt(
  { code, since, said_at }: Omit<BlockRow, 'endpoint' | 'message'>,
  allowance: Allowance,
): Millis {
  const remedy = remedyOfCode(code)
  // Each try of a host that refuses all pictures may cost quota. So it waits as long as the trouble has lasted, up to `probeEveryMs`.
  if (remedy === 'refused_by_node')
    return said_at + Math.min(Math.max(said_at - since, RETRY_MS), Math.max(allowance.probeEveryMs, RETRY_MS))
  return said_at + ((remedy && tryAgainAfterMs(remedy, allowance)) ?? RETRY_MS)
}

/** How many milliseconds after a refusal an endpoint is tried again. Null: something else decides. The upload queue asks
 * about a used-up quota, and the gate waits for the end of an outage. */
function tryAgainAfterMs(remedy: Remedy, { probeEveryMs }: Allowance): number | null {
  if (remedy === 'key') return HOUR_MS
  return remedy === 'plan' || remedy === 'storage' ? probeEveryMs : null
}

/** When the config names another plan, forgets what the host said under the old one: quota and limits differ. */
async function noticePlan({ synced, allowance: { plan } }: EngineContext): Promise<void> {
  const before = synced.meta.get('plan')
  if (before === plan) return
  await synced.commit(tx => {
    tx.meta.set('plan', plan)
    if (before === null) return
    forgetSizeLimit(tx)
    tx.account.forgetExhaustion()
    tx.account.clearBlocks([])
  })
}

/** The code of a file larger than the plan allows. §8 gives no largest size, so it is learned from answers. */
export const TOO_LARGE = 'FILE_TOO_LARGE'
/** How often a refused picture is sent again, to ask whether the limit has grown. */
const ASK_EVERY_MS = DAY_MS

/** Why a file of this size is not sent, because the host refused a file of this size or a smaller file; or null. */
export function whyTooLarge(context: QuotaPort, size: number): Reason | null {
  const limit = context.synced.meta.get('size_limit')
  if (limit === null || size < limit.refused || isDue(limit, context)) return null
  return because('too_large', { refused: limit.refused, plan: context.allowance.plan })
}

/** Notes that the host refused a file of this size, unless it took a larger one before. */
export function noteTooLarge(tx: Tx, clock: Clock, size: number): void {
  if (size <= (tx.meta.get('largest_taken') ?? 0)) return
  const refused = Math.min(size, tx.meta.get('size_limit')?.refused ?? size)
  tx.meta.set('size_limit', { refused, askedAt: clock.wall() })
}

/** Notes that the host took a file of this size. When it refused such a size before, these are tried again. */
export function noteTaken(tx: Tx, size: number): void {
  if (size > (tx.meta.get('largest_taken') ?? 0)) tx.meta.set('largest_taken', size)
  const limit = tx.meta.get('size_limit')
  if (limit === null || size < limit.refused) return
  tx.meta.clear('size_limit')
  retried(tx, tx.failures.uploadsOfCode(TOO_LARGE))
}

/** Once a day, lets the smallest refused file be sent again, to learn whether the limit has grown. */
async function askAboutSize(context: QuotaPort): Promise<void> {
  const { synced } = context
  const limit = synced.meta.get('size_limit')
  if (limit === null || !isDue(limit, context)) return
  const [smallest] = synced.failures.uploadsOfCode(TOO_LARGE)
  if (smallest) await synced.commit(tx => retried(tx, [smallest]))
}

/** Forgets the limit of the old plan, and lets the files that it refused be sent again. */
function forgetSizeLimit(tx: Tx): void {
  tx.meta.clear('size_limit')
  tx.meta.clear('largest_taken')
  retried(tx, tx.failures.uploadsOfCode(TOO_LARGE))
}

/** Whether the host may be asked again. Also when `askedAt` lies far ahead, because the clock was set back. */
function isDue({ askedAt }: { askedAt: number }, { clock }: QuotaPort): boolean {
  return Math.abs(clock.wall() - askedAt) >= ASK_EVERY_MS
}
