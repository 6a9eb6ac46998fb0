import type { Reason } from '../../words/reasons.ts'
import type { Db } from '../database.ts'

export interface FailureRow {
  folder: number
  /** The file's name; '' for the folder itself. A byte that is not UTF-8 is written as \xNN. */
  name: string
  source: 'look' | 'upload' | 'uncertain'
  code: string
  message: Reason
  attempts: number
  /** Null: the file is tried again when it changes. */
  next_attempt_at: number | null
}

/** Failures of paths that are not settled yet. */
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
      /** The failure of a path. A failed upload comes before a failed look. */
      of: (folder: number, name: string) => of.get(folder, name),
      /** The failure of a file's last upload, or null. */
      codeOf: ({ folder, name }: { folder: number; name: string }) => codeOf.get(folder, name)?.code ?? null,
      /** The files whose upload failed with this code, the smallest first. */
      uploadsOfCode: (code: string) => uploadsOfCode.all(code),
      /** When the next retry is due; null when none is. */
      nextDue: () => nextDue.get()!.at,
      /** Failed uploads whose retry is due. */
      due: (now: number) => due.all(now),
    },
    writes: {
      put: (row: Omit<FailureRow, 'attempts'>) => void put.run(row),
      /** Forgets the failure of a file's upload. A failed look stays, because its name may only look like this file's name. */
      clear: (folder: number, name: string) => void clear.run(folder, name),
      /** Forgets the failed looks of a folder, before a new look at the folder is recorded. */
      clearLook: (folder: number) => void clearLook.run(folder),
      /** Forgets all failures of a folder that is gone. */
      clearAll: (folder: number) => void clearAll.run(folder),
    },
  }
}
