import type { Synced } from '../../synced/synced.ts'
import type { Allowance } from './quota-state.ts'
import { forgetSizeLimit } from './size-limit.ts'

/** Whoever names another plan in the config has another quota and other limits: what the host said is of before. */
export async function noticePlan({
  synced,
  allowance: { plan },
}: {
  synced: Synced
  allowance: Pick<Allowance, 'plan'>
}): Promise<void> {
  const before = synced.meta.get('plan')
  if (before === plan) return
  await synced.commit(() => {
    synced.meta.set('plan', plan)
    if (before === null) return
    forgetSizeLimit(synced)
    synced.account.forgetExhaustion()
    synced.account.clearBlocks([])
  })
}
