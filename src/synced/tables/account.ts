import type { Millis } from '../../protocol/clock.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'

export interface BlockRow {
  endpoint: string
  code: string
  message: Reason
  since: Millis
  /** When the host last gave this answer. */
  said_at: Millis
}

/** What is known of one day of the quota. */
export interface QuotaRow {
  /** When the day begins, in ISO 8601. */
  day: string
  /** How many credentials the host issued on this day. */
  used: number
  /** When the host first said on this day that the quota is used up; null when it did not. */
  exhausted: Millis | null
  /** When the host last said on this day that the quota is used up; null when it did not. */
  said_at: Millis | null
  /** When there is quota again, as the host said when it refused; null when it did not say. */
  resumes_at: Millis | null
}

/** What the host has answered about the account: the day's quota, and what it refuses. */
export function openAccount({ all, get, kept, run, value }: Statements) {
  const clearBlocks = run<[except: string]>(
    'DELETE FROM blocks WHERE endpoint NOT IN (SELECT value FROM json_each(?))',
  )
  const quota = kept('quota', get<[day: string], QuotaRow>('SELECT * FROM quota WHERE day = ?'))

  return {
    reads: {
      blocks: kept('blocks', all<[], BlockRow>('SELECT * FROM blocks ORDER BY endpoint')),
      quota: (day: string): QuotaRow => quota(day) ?? { ...UNUSED, day },
      /** How many credentials the host issued on days later than this one. */
      usedAfter: value<[day: string], number>('SELECT ifnull(sum(used), 0) FROM quota WHERE day > ?'),
    },
    writes: {
      block: run<
        [row: BlockRow]
      >(`INSERT INTO blocks (endpoint, code, message, since, said_at) VALUES (@endpoint, @code, @message, @since, @said_at)
     ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message, said_at = excluded.said_at,
       since = iif(code = excluded.code, since, excluded.since)`),
      unblock: run<[endpoint: string]>('DELETE FROM blocks WHERE endpoint = ?'),
      /** Forgets all blocks except those of these endpoints. */
      clearBlocks: (except: readonly string[]) => clearBlocks(JSON.stringify(except)),
      useQuota: run<[day: string]>(
        'INSERT INTO quota (day, used) VALUES (?, 1) ON CONFLICT DO UPDATE SET used = used + 1',
      ),
      exhaustQuota: run<
        [row: Omit<QuotaRow, 'used'>]
      >(`INSERT INTO quota (day, used, exhausted, said_at, resumes_at) VALUES (@day, 0, @exhausted, @said_at, @resumes_at)
     ON CONFLICT DO UPDATE SET exhausted = excluded.exhausted, said_at = excluded.said_at,
       resumes_at = excluded.resumes_at`),
      /** Forgets that the quota is used up, because a person said so, or a new day has begun. */
      forgetExhaustion: run<[]>('UPDATE quota SET exhausted = NULL, said_at = NULL, resumes_at = NULL'),
      /** Forgets all days earlier than this one. */
      pruneQuota: run<[day: string]>('DELETE FROM quota WHERE day < ?'),
    },
  }
}

const UNUSED = { used: 0, exhausted: null, said_at: null, resumes_at: null }
