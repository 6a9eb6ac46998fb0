import type { Millis } from '../../protocol/clock.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import type { FileKey } from './files.ts'

export interface FailureRow {
  folder: number
  /** The file's name; '' for the folder itself. A byte that is not UTF-8 is written as \xNN. */
  name: string
  source: 'look' | 'upload' | 'uncertain'
  code: string
  message: Reason
  attempts: number
  /** How many of the attempts ended with a refusal of the picture itself: not of its album, nor of the disk. */
  refusals: number
  /** When the file is tried again. Null: it is tried again only when it changes. */
  next_attempt_at: Millis | null
}

/** Failures of looks and uploads, by path. A failure is removed when the path succeeds or changes. */
export function openFailures({ all, get, run, value }: Statements) {
  return {
    reads: {
      /** The failure of a path. When both an upload and a look have failed, returns that of the upload. */
      of: get<[folder: number, name: string], FailureRow>(
        'SELECT * FROM failures WHERE folder = +? AND name = +? ORDER BY source DESC LIMIT 1',
      ),
      /** Why the outcome of a file's upload is not known. */
      doubt: value<[folder: number, name: string], Reason | undefined>(
        `SELECT message FROM failures WHERE folder = ? AND name = ? AND source = 'uncertain'`,
      ),
      /** The failure of a file's last upload, if it failed. `attempts`: how often since the last success. */
      ofUpload: get<[FileKey], FailureRow>(
        `SELECT * FROM failures WHERE folder = @folder AND name = @name AND source = 'upload'`,
      ),
      /** The files whose upload failed with this code, the smallest first. */
      uploadsOfCode: all<
        [code: string],
        { folder: number; name: string; size: number }
      >(`SELECT folder, name, size FROM failures JOIN files USING (folder, name)
     WHERE source = 'upload' AND code = ? AND state = 'failed' ORDER BY size`),
      /** When the next failure is due to be tried again; null when none is tried again by itself. */
      nextDue: value<[], number | null>('SELECT min(next_attempt_at) FROM failures'),
      /** The failed uploads that are tried again now, those with the fewest tries first. These are the uploads whose time has
       * come, and in each pass those whose file could not be read: reading a file costs the host nothing. */
      due: all<[now: number], FailureRow>(
        `SELECT * FROM failures WHERE source = 'upload' AND next_attempt_at IS NOT NULL
       AND (next_attempt_at <= +? OR code = 'UNREADABLE')
     ORDER BY attempts`,
      ),
    },
    writes: {
      put: run<
        [row: Omit<FailureRow, 'attempts'>]
      >(`INSERT INTO failures (folder, name, source, code, message, attempts, refusals, next_attempt_at)
     VALUES (@folder, @name, @source, @code, @message, 1, @refusals, @next_attempt_at)
     ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message,
       attempts = attempts + 1, refusals = refusals + excluded.refusals, next_attempt_at = excluded.next_attempt_at`),
      /** Keeps failed looks: the path of another file, whose name is not UTF-8, may be written exactly like this one. */
      clear: run<[folder: number, name: string]>(
        `DELETE FROM failures WHERE folder = +? AND name = +? AND source <> 'look'`,
      ),
      /** Forgets that the outcome of a file's upload is not known. */
      clearDoubt: run<[folder: number, name: string]>(
        `DELETE FROM failures WHERE folder = ? AND name = ? AND source = 'uncertain'`,
      ),
      /** Forgets the failed looks of a folder, before a new look at the folder is recorded. */
      clearLook: run<[folder: number]>(`DELETE FROM failures WHERE folder = ? AND source = 'look'`),
      clearAll: run<[folder: number]>('DELETE FROM failures WHERE folder = ?'),
    },
  }
}
