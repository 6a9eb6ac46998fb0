import type { Config } from '../../config/schema.ts'
import { daysOf } from '../../protocol/days.ts'
import { DAILY_QUOTA } from '../../protocol/limits.ts'
import { type Allowance, isUsedUpEarly, onlyReserveLeft, readQuota } from '../../sync/quota/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import { usedByOthers } from './machines.ts'

/** The day's quota (§8) in `status --json`. Times are ISO 8601. */
export interface QuotaStatus {
  plan: string
  limit: number
  /** How many credentials the host has issued to albumd today. Other programs may have used the account too. */
  used: number
  /** How many of today's credentials are kept for pictures that are found today. The backlog may not use them. */
  reserve: number
  /** Whether no more than the reserve is left of today's uploads. */
  only_reserve_left: boolean
  exhausted: boolean
  /** Whether the host said long before `limit` that the quota is used up. The plan has less, or another program uses the
   * account. */
  used_up_early: boolean
  /** When there is quota again, by the config or the host's Retry-After. Null: the quota is not used up, or nobody knows. */
  resumes_at: string | null
  /** When albumd asks the host again. Null: the quota is not used up. */
  next_probe_at: string | null
}

/** The pictures that wait for their upload. */
export interface BacklogStatus {
  pictures: number
  /** How many pictures are as large as their image and are compared first. The other fields do not count them. */
  compare: number
  bytes: number
  /** How many of `pictures` the quota lets albumd upload today. */
  today: number
  /** How many seconds the uploads of `today` take, at the pace so far or else at the config's rate. */
  today_seconds: number
  /** When the quota's next day begins. Null: not known. */
  next_day_at: string | null
  /** How many pictures of the backlog can be uploaded in a whole day. */
  per_day: number
}

export function allowanceOf({ host, quota, uploads }: Pick<Config, 'host' | 'quota' | 'uploads'>): Allowance {
  return {
    plan: host.plan,
    limit: host.daily_quota ?? DAILY_QUOTA[host.plan],
    reserve: uploads.order === 'newest' ? quota.reserve : 0,
    days: host.quota_reset ? daysOf(host.quota_reset) : null,
    probeEveryMs: quota.probe_every,
  }
}

export function quotaStatus(
  config: Config,
  synced: Synced,
  now: number,
): { quota: QuotaStatus; backlog: BacklogStatus } {
  const allowance = allowanceOf(config)
  const { plan, limit } = allowance
  const state = readQuota(synced, allowance, now, { used: ms => usedByOthers(config, synced, now - ms) })
  const { used, exhausted, isDayKnown, ends } = state
  const reserve = Math.floor(limit * allowance.reserve)
  const perDay = limit - reserve
  const mirrors = synced.mirrors.idsOf(config.mirrors)
  const { pictures, bytes, compare } = synced.files.toSend(mirrors)
  // The reserve counts as left only when a picture was found today, because no other picture may use it.
  const anyNew = !synced.files.pendingSince(state.began, mirrors, 1).next().done
  const left = exhausted ? 0 : Math.max(0, limit - used - (anyNew ? 0 : reserve))
  const rate = synced.meta.get('upload_rate')
  const today = Math.min(pictures, left)
  const knowsDay = isDayKnown || exhausted?.resumes != null
  const quota: QuotaStatus = {
    plan,
    limit,
    used,
    reserve,
    only_reserve_left: exhausted === null && onlyReserveLeft(allowance, state),
    exhausted: exhausted !== null,
    used_up_early: isUsedUpEarly(synced, allowance, state),
    resumes_at: isoTime(exhausted?.resumes ?? null),
    next_probe_at: isoTime(exhausted?.ask ?? null),
  }
  const backlog: BacklogStatus = {
    pictures: pictures + compare,
    compare,
    bytes,
    today,
    today_seconds: Math.ceil(today / (rate ?? config.host.requests_per_second.upload)),
    next_day_at: knowsDay ? isoTime(ends) : null,
    per_day: perDay,
  }
  return { quota, backlog }
}

/** How long the waiting pictures take, and which wait for another day. Null: under a minute. `pace`: pictures a second. */
export function whatBacklogTakes(
  { backlog, quota: { limit } }: { backlog: BacklogStatus; quota: QuotaStatus },
  pace = 0,
): Reason | null {
  const { today, today_seconds, next_day_at, per_day } = backlog
  const pictures = backlog.pictures - backlog.compare
  const ms = pace > 0 ? (today * 1000) / pace : today_seconds * 1000
  if (pictures === today && ms < 60_000) return null
  return because('backlog_takes', {
    pictures,
    today,
    ms,
    nextDay: next_day_at,
    perDay: per_day,
    kept: limit - per_day,
  })
}
