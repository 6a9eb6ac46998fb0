import type { Reason } from '../../words/reasons.ts'
import type { Db } from '../database.ts'

export interface FailureRow {
  folder: number
  /** '' for the folder itself. Bytes that are not UTF-8 stand as \xNN. */
  name: string
  source: 'look' | 'upload' | 'uncertain'
  code: string
  message: Reason
  attempts: number
  /** Null: not before the file changes. */
  next_attempt_at: number | null
}

/** What went wrong with one path and is not mended yet. */
export function openFailures(db: Db) {
  const put = db.prepare<Omit<FailureRow, 'attempts'>>(
    `INSERT INTO failures (folder, name, source, code, message, attempts, next_attempt_at)
     VALUES (@folder, @name, @source, @code, @message, 1, @next_attempt_at)
     ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message,
       attempts = attempts + 1, next_attempt_at = excluded.next_attempt_at`,
  )
  const clear = db.prepare<[number, string]>(
    `DELETE FROM failures WHERE folder = ? AND name = ? AND source <> 'look'`,
  )
  const clearLook = db.prepare<[number]>(`DELETE FROM failures WHERE folder = ? AND source = 'look'`)
  const clearAll = db.prepare<[number]>('DELETE FROM failures WHERE folder = ?')
  const due = db.prepare<[number], FailureRow>(
    `SELECT * FROM failures WHERE source = 'upload' AND next_attempt_at IS NOT NULL AND next_attempt_at <= +?`,
  )

  const of = db.prepare<[number, string], FailureRow>(
    'SELECT * FROM failures WHERE folder = ? AND name = ? ORDER BY source DESC LIMIT 1',
  )
  const codeOf = db.prepare<[number, string], { code: string }>(
    `SELECT code FROM failures WHERE folder = ? AND name = ? AND source = 'upload'`,
  )
  const uploadsOfCode = db.prepare<[string], { folder: number; name: string; size: number }>(
    `SELECT folder, name, size FROM failures JOIN files USING (folder, name)
     WHERE source = 'upload' AND code = ? AND state = 'failed' ORDER BY size`,
  )
  const nextDue = db.prepare<[], { at: number | null }>('SELECT min(next_attempt_at) AS at FROM failures')

  return {
    reads: {
      /** What went wrong with one path, with its upload before what a look found. */
      of: (folder: number, name: string) => of.get(folder, name),
      /** Why the last upload failed; null where it did not. */
      codeOf: ({ folder, name }: { folder: number; name: string }) => codeOf.get(folder, name)?.code ?? null,
      /** The files whose upload failed so, the smallest first. */
      uploadsOfCode: (code: string) => uploadsOfCode.all(code),
      /** When the next try comes; null where none will. */
      nextDue: () => nextDue.get()!.at,
      /** Uploads whose next try has come. */
      due: (now: number) => due.all(now),
    },
    writes: {
      put: (row: Omit<FailureRow, 'attempts'>) => void put.run(row),
      /** What a look found stays until the next one: bytes that are not UTF-8 may be written as another file's name. */
      clear: (folder: number, name: string) => void clear.run(folder, name),
      /** A new look at the folder finds its own problems anew. */
      clearLook: (folder: number) => void clearLook.run(folder),
      /** The folder is gone. */
      clearAll: (folder: number) => void clearAll.run(folder),
    },
  }
}
