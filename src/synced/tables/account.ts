import type { Db } from '../database.ts'

export interface BlockRow {
  endpoint: string
  code: string
  message: string
  since: number
  /** When the host last gave this answer: milliseconds since 1970. */
  said_at: number
}

/** A quota day. Times are milliseconds since 1970. */
export interface QuotaRow {
  /** The beginning of the day in ISO 8601. */
  day: string
  /** How many credentials the host issued on this day. */
  used: number
  /** When the host first said that the quota is used up; null when it did not say this. */
  exhausted: number | null
  /** When the host last said that the quota is used up. */
  said_at: number | null
  /** How many requests were refused for the quota. Several requests at once count as one. */
  refused: number
  /** The end of the refusal that the host named, or null. */
  resumes_at: number | null
  /** The difference of the clocks when the host last said that the quota is used up. */
  clock_offset: number | null
}

/** What the host has answered about the account: the day's quota, and what it refuses. */
export function openAccount(db: Db) {
  const putBlock = db.prepare<BlockRow>(
    `INSERT INTO blocks (endpoint, code, message, since, said_at) VALUES (@endpoint, @code, @message, @since, @said_at)
     ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message, said_at = excluded.said_at,
       since = iif(code = excluded.code, since, excluded.since)`,
  )
  const clearBlocks = db.prepare<[string]>(
    'DELETE FROM blocks WHERE endpoint NOT IN (SELECT value FROM json_each(?))',
  )
  const blocks = db.prepare<[], BlockRow>('SELECT * FROM blocks ORDER BY endpoint')
  const use = db.prepare<[string]>(
    'INSERT INTO quota (day, used) VALUES (?, 1) ON CONFLICT DO UPDATE SET used = used + 1',
  )
  const exhaust = db.prepare<Omit<QuotaRow, 'used' | 'refused'>>(
    `INSERT INTO quota (day, used, refused, exhausted, said_at, resumes_at, clock_offset)
     VALUES (@day, 0, 1, @exhausted, @said_at, @resumes_at, @clock_offset)
     ON CONFLICT DO UPDATE SET refused = refused + 1, exhausted = excluded.exhausted, said_at = excluded.said_at,
       resumes_at = excluded.resumes_at, clock_offset = excluded.clock_offset`,
  )
  const forgetExhaustion = db.prepare(
    'UPDATE quota SET exhausted = NULL, said_at = NULL, refused = 0, resumes_at = NULL, clock_offset = NULL',
  )
  const quota = db.prepare<[string], QuotaRow>('SELECT * FROM quota WHERE day = ?')
  const usedAfter = db
    .prepare<[string], number>('SELECT ifnull(sum(used), 0) FROM quota WHERE day > ?')
    .pluck()
  const prune = db.prepare<[number]>(
    'DELETE FROM quota WHERE day NOT IN (SELECT day FROM quota ORDER BY day DESC LIMIT +?)',
  )

  return {
    reads: {
      blocks: () => blocks.all(),
      quota: (day: string): QuotaRow => quota.get(day) ?? { ...UNUSED, day },
      /** Credentials that the host issued on the days after this one. */
      usedAfter: (day: string) => usedAfter.get(day)!,
    },
    writes: {
      block: (row: BlockRow) => void putBlock.run(row),
      /** Forgets the blocks of all other endpoints. */
      clearBlocks: (except: readonly string[]) => void clearBlocks.run(JSON.stringify(except)),
      /** Counts a credential that was issued on this day. */
      useQuota: (day: string) => void use.run(day),
      /** Records that the host said that the day's quota is used up. */
      exhaustQuota: (row: Omit<QuotaRow, 'used' | 'refused'>) => void exhaust.run(row),
      /** Forgets that the quota is used up, because a person said so, or a new day has begun. */
      forgetExhaustion: () => void forgetExhaustion.run(),
      /** Forgets all days but the latest `days`. */
      pruneQuota: (days: number) => void prune.run(days),
    },
  }
}

const UNUSED: Omit<QuotaRow, 'day'> = {
  used: 0,
  exhausted: null,
  said_at: null,
  refused: 0,
  resumes_at: null,
  clock_offset: null,
}
