import type { Config } from '../../config/schema.ts'
import { DAILY_QUOTA } from '../../protocol/limits.ts'
import {
  type Allowance,
  daysOf,
  forecast,
  isUsedUpEarly,
  type QuotaState,
  readQuota,
} from '../../sync/quota/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { isoTime } from './amounts.ts'

/** The day's quota (§8) in `status --json`. Times are ISO 8601. */
export interface QuotaStatus {
  plan: string
  limit: number
  /** Credentials that the host issued today; others may use the account too. */
  used: number
  /** Kept for pictures that are found today. */
  reserve: number
  exhausted: boolean
  /** It is, long before the limit: the host allows less than the config has it, or something else uses it too. */
  used_up_early: boolean
  /** When there is quota again at the latest; null where it is not used up, or nobody knows. */
  resumes_at: string | null
  /** When the host is asked again; null where the quota is not used up. */
  next_probe_at: string | null
  reset: ResetStatus
}

/** When the host's day begins; what was learned lies after `from` and at `to` at the latest, in UTC. */
export type ResetStatus =
  | { known: 'configured' | 'no' }
  | { known: 'learned'; from: string; to: string; days: number }

/** What waits for its upload. */
export interface BacklogStatus {
  pictures: number
  bytes: number
  /** By the quota and the pace so far, rounded up; 0: with what is left of today. */
  days: number
  /** Pictures of the backlog that go on a whole day. */
  per_day: number
  done_by: string | null
}

/** What to do where it is used up early. */
export const EARLY_REMEDY =
  "put what the account's plan allows a day into host.daily_quota, or something else uses the account too"

/** How many pictures the account may send (§8), by the config. */
export function allowanceOf({ host, quota }: Pick<Config, 'host' | 'quota'>): Allowance {
  return {
    plan: host.plan,
    limit: host.daily_quota ?? DAILY_QUOTA[host.plan],
    reserve: quota.reserve,
    days: host.quota_reset ? daysOf(host.quota_reset) : null,
    probeEveryMs: quota.probe_every,
  }
}

export function quotaStatus(config: Config, synced: Synced, now: number): QuotaStatus {
  const allowance = allowanceOf(config)
  const { plan, limit, days } = allowance
  const quota = readQuota(synced, allowance, now)
  const { used, exhausted, learned } = quota
  return {
    plan,
    limit,
    used,
    reserve: reserveOf(config),
    exhausted: exhausted !== null,
    used_up_early: isUsedUpEarly(synced, allowance, quota),
    resumes_at: isoTime(exhausted?.resumes ?? null),
    next_probe_at: isoTime(exhausted?.ask ?? null),
    reset: days ? { known: 'configured' } : resetStatus(learned),
  }
}

export function backlogStatus(config: Config, synced: Synced, now: number): BacklogStatus {
  const allowance = allowanceOf(config)
  const { used, exhausted, ends } = readQuota(synced, allowance, now)
  const mirrors = config.mirrors.flatMap(({ folder }) => synced.mirrors.of(folder)?.id ?? [])
  const { pictures, bytes } = synced.files.pendingTotal(mirrors)
  const rate = synced.meta.get('upload_rate')
  const perDay = allowance.limit - reserveOf(config)
  const { days, doneBy } = forecast({
    pictures,
    now,
    left: exhausted ? 0 : Math.max(0, allowance.limit - used),
    perDay,
    nextDay: Math.max(now, ends),
    rate,
  })
  return { pictures, bytes, days, per_day: perDay, done_by: pictures > 0 ? isoTime(doneBy) : null }
}

function reserveOf({ uploads, quota, host }: Config): number {
  return uploads.order === 'newest' ? Math.floor(allowanceOf({ quota, host }).limit * quota.reserve) : 0
}

function resetStatus(learned: QuotaState['learned']): ResetStatus {
  if (learned === null) return { known: 'no' }
  const { from, to, days } = learned
  return { known: 'learned', from: timeOfDay(from), to: timeOfDay(to), days }
}

/** HH:MM:SS in UTC. */
function timeOfDay(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19)
}
