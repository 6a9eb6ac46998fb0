import type { Db } from './database.ts'

export interface BlockRow {
  endpoint: string
  code: string
  message: string
  since: number
  /** When the host said so the last time. */
  said_at: number
}

export interface QuotaRow {
  day: string
  used: number
  exhausted: number | null
  resumes_at: number | null
}

/** What the host has said about the account: its quota today, and what the plan forbids. */
export function openAccount(db: Db) {
  const putBlock = db.prepare<BlockRow>(
    `INSERT INTO blocks (endpoint, code, message, since, said_at) VALUES (@endpoint, @code, @message, @since, @said_at)
     ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message, said_at = excluded.said_at`,
  )
  const clearBlocks = db.prepare<[string]>(
    'DELETE FROM blocks WHERE endpoint NOT IN (SELECT value FROM json_each(?))',
  )
  const blocks = db.prepare<[], BlockRow>('SELECT * FROM blocks ORDER BY endpoint')
  const use = db.prepare<[string]>(
    `INSERT INTO quota (day, used) VALUES (?, 1)
     ON CONFLICT DO UPDATE SET used = used + 1, exhausted = NULL, resumes_at = NULL`,
  )
  const exhaust = db.prepare<[string, number, number | null]>(
    `INSERT INTO quota (day, used, exhausted, resumes_at) VALUES (?, 0, ?, ?)
     ON CONFLICT DO UPDATE SET exhausted = excluded.exhausted, resumes_at = excluded.resumes_at`,
  )
  const forgetExhaustion = db.prepare('UPDATE quota SET exhausted = NULL, resumes_at = NULL')
  const quota = db.prepare<[string], QuotaRow>('SELECT * FROM quota WHERE day = ?')

  return {
    block: (row: BlockRow) => void putBlock.run(row),
    /** All but these endpoints work. */
    clearBlocks: (except: readonly string[]) => void clearBlocks.run(JSON.stringify(except)),
    blocks: () => blocks.all(),
    /** One credential was issued on this day, so the quota is not used up, whatever was said before. */
    useQuota: (day: string) => void use.run(day),
    /** The host said that the day's quota is used up. */
    exhaustQuota: (day: string, at: number, resumesAt: number | null) => void exhaust.run(day, at, resumesAt),
    /** A person says that there may be quota again. */
    forgetExhaustion: () => void forgetExhaustion.run(),
    quota: (day: string): QuotaRow => quota.get(day) ?? { day, used: 0, exhausted: null, resumes_at: null },
  }
}
