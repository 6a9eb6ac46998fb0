import type { Remedy } from '../../remote/host.ts'
import type { EngineContext } from '../context.ts'
import type { Pass } from '../pass-request.ts'
import type { Allowance } from './quota-state.ts'
import { askAboutSize, forgetSizeLimit } from './size-limit.ts'

/** How often a refused key is tried again. */
const HOUR_MS = 3_600_000

/** At the start of a pass: lets requests be tried again that the host refused long enough ago. */
export async function reviewAccount(context: EngineContext, { task }: Pass): Promise<void> {
  await noticePlan(context)
  if (task === 'look') return
  unblockEndpoints(context)
  await askAboutSize(context)
}

/** Unblocks endpoints that were refused long enough ago. A used-up quota is left to the upload queue, which probes it. */
function unblockEndpoints({ synced, host, clock, allowance }: EngineContext): void {
  const recorded = new Set(synced.account.blocks().map(({ endpoint }) => endpoint))
  for (const { endpoint, remedy, since } of host.blocks()) {
    const every = tryAgainAfterMs(remedy, allowance)
    // When a block was recorded and the record is gone, a person has asked to try again ("albumd retry").
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

/** Another plan in the config has another quota and other limits, so what the host said before counts no longer. */
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
