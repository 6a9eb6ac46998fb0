import type { Config } from '../../config/schema.ts'
import { DAILY_QUOTA } from '../../protocol/limits.ts'
import type { Allowance } from '../../sync/quota/index.ts'
import { daysOf } from '../../sync/quota/index.ts'

/** What the account may send (§8), as the config has it. */
export function allowanceOf({ host, quota }: Pick<Config, 'host' | 'quota'>): Allowance {
  return {
    plan: host.plan,
    limit: host.daily_quota ?? DAILY_QUOTA[host.plan],
    reserve: quota.reserve,
    days: host.quota_reset ? daysOf(host.quota_reset) : null,
    probeEveryMs: quota.probe_every,
  }
}
