import { DAY_MS, HOUR_MS, type Millis } from '../../protocol/clock.ts'
import { retried } from '../../records/pictures.ts'
import { FORMAT_REFUSED, remedyOfCode } from '../../remote/failures.ts'
import type { Block, HostFailure, Remedy } from '../../remote/host.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import type { EngineContext } from '../context.ts'
import type { Pass } from '../pass-request.ts'
import type { Allowance } from './quota-state.ts'

/** At the start of a pass: allows another try of what the host refused long enough ago. */
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
}

/** Asks the host when the key is new or was refused before: nobody else asks until something is to be sent. */
async function tryKey(
  { synced, host, clock }: EngineContext,
  { isKeyNew = false, interruption }: Pass,
): Promise<HostFailure | null> {
  const isRefused = (blocks: readonly Block[]) => blocks.some(({ remedy }) => remedy === 'key')
  if (isRefused(host.blocks()) || !(isKeyNew || isRefused(host.blocks('untried')))) return null
  const page = await host.list(null, 1, interruption.cut)
  // A plan without listings refuses the question, but the host has accepted the key then.
  const failure = page.ok || page.failure.remedy === 'plan' ? null : page.failure
  // Recorded at once: people are told what is recorded, and the end of a first pass may be days away.
  await synced.commit(({ account }) => {
    const refused = account.blocks().filter(({ code }) => remedyOfCode(code) === 'key')
    if (failure === null) for (const { endpoint } of refused) account.unblock(endpoint)
    else if (failure.remedy === 'key' && refused.length === 0) {
      const { endpoint, code, message } = failure
      const now = clock.wall()
      account.block({ endpoint, code, message, since: now, said_at: now })
    }
  })
  return failure
}

/** Unblocks endpoints that were refused long enough ago. Not uploads without quota: the upload queue asks about those. */
function unblockEndpoints({ synced, host, clock, allowance }: EngineContext): void {
  const recorded = new Set(synced.account.blocks().map(({ endpoint }) => endpoint))
  for (const { endpoint, remedy, since } of host.blocks()) {
    const every = tryAgainAfterMs(remedy, allowance)
    if (every === null) continue
    // `noticePlan` deletes the records of blocks when the plan has changed. Such endpoints are tried at once.
    if (clock.monotonic() - since >= every || !recorded.has(endpoint)) host.unblock(endpoint)
  }
}

/** How often a running daemon tries again what waits for the end of an outage. */
export const RETRY_MS = 60_000

/** How often the host is asked about a refused format at least. It is also asked after each audit. */
const FORMAT_MOST_MS = 7 * DAY_MS

/** When a running daemon tries a blocked endpoint again. In an outage, its next pass does. */
export function triedAgainAt(
  { code, since, said_at }: Omit<BlockRow, 'endpoint' | 'message'>,
  allowance: Allowance,
): Millis {
  const remedy = remedyOfCode(code)
  // Each try of what the host refuses may cost quota. So the wait is as long as the trouble has lasted, up to a limit.
  if (remedy === 'refused_by_node') {
    const most = code === FORMAT_REFUSED ? FORMAT_MOST_MS : allowance.probeEveryMs
    return said_at + Math.max(Math.min(said_at - since, most), RETRY_MS)
  }
  return said_at + ((remedy && tryAgainAfterMs(remedy, allowance)) ?? RETRY_MS)
}

/** How long after a refusal an endpoint is tried again. Null: the upload queue (quota) or the gate (outage) decides. */
function tryAgainAfterMs(remedy: Remedy, { probeEveryMs }: Allowance): number | null {
  if (remedy === 'key') return HOUR_MS
  return remedy === 'plan' || remedy === 'storage' ? probeEveryMs : null
}

/** When the config names another plan, forgets what the host said under the old one. What was too large is sent again. */
async function noticePlan({ synced, allowance: { plan } }: EngineContext): Promise<void> {
  const before = synced.meta.get('plan')
  if (before === plan) return
  await synced.commit(tx => {
    tx.meta.set('plan', plan)
    if (before === null) return
    retried(tx, tx.failures.uploadsOfCode('FILE_TOO_LARGE'))
    tx.account.forgetExhaustion()
    tx.account.clearBlocks([])
  })
}
