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
  /** When the file is tried again, in milliseconds since 1970. Null: it is tried again only when it changes. */
  next_attempt_at: number | null
}

/** A failure that a person accepted. `hash`: of the file's bytes. `at`: milliseconds since 1970. */
export interface AcceptedRow extends FileKey {
  code: string
  hash: Buffer | null
  at: number
}

/**
 * Failures of looks and uploads, by path, and those of them that a person accepted. A failure is removed when the path
 * succeeds or changes.
 */
export function openFailures({ all, changes, get, run, value }: Statements) {
  // The accepted file is not at its path any more.
  const hasLeft = `NOT EXISTS (SELECT 1 FROM files WHERE folder = accepted.folder AND name = accepted.name
     AND state NOT IN ('gone','kept'))`

  return {
    reads: {
      /** The failure of a path. When both an upload and a look failed, the failed upload. */
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
      /**
       * Failed uploads that are tried again now, those that were tried least first: those whose time has come, and in each
       * pass the files that could not be read, because the host is not asked before a file is read.
       */
      due: all<[now: number], FailureRow>(
        `SELECT * FROM failures WHERE source = 'upload' AND next_attempt_at IS NOT NULL
       AND (next_attempt_at <= +? OR code = 'UNREADABLE')
     ORDER BY attempts`,
      ),
      /** Failed uploads that will be tried again later. */
      later: all<[now: number], FailureRow>(
        `SELECT * FROM failures WHERE source = 'upload' AND next_attempt_at > +?`,
      ),
      /** When a person accepted the failure of a path. An acceptance does not hold for a failure with another code. */
      acceptedAt: value<[FileKey], number | undefined>(
        `SELECT at FROM accepted JOIN failures USING (folder, name, code) WHERE folder = @folder AND name = @name`,
      ),
    },
    writes: {
      put: run<
        [row: Omit<FailureRow, 'attempts'>]
      >(`INSERT INTO failures (folder, name, source, code, message, attempts, next_attempt_at)
     VALUES (@folder, @name, @source, @code, @message, 1, @next_attempt_at)
     ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message,
       attempts = attempts + 1, next_attempt_at = excluded.next_attempt_at`),
      postpone: run<[until: number, folder: number, name: string]>(
        `UPDATE failures SET next_attempt_at = ? WHERE folder = ? AND name = ? AND source = 'upload'`,
      ),
      /**
       * Forgets that the file's upload failed or is in doubt. A failed look stays, because it may be another file's: a name
       * that is not UTF-8 may be written exactly like this file's name.
       */
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
      accept: run<[AcceptedRow]>(
        'INSERT OR REPLACE INTO accepted (folder, name, code, hash, at) VALUES (@folder, @name, @code, @hash, @at)',
      ),
      unaccept: run<[FileKey]>('DELETE FROM accepted WHERE folder = @folder AND name = @name'),
      /** Ends the acceptance of a failure with another code, or of other bytes. */
      unacceptOthers: run<[Omit<AcceptedRow, 'at'>]>(
        'DELETE FROM accepted WHERE folder = @folder AND name = @name AND (code <> @code OR hash IS NOT @hash)',
      ),
      /**
       * Lets each acceptance go with its file: the accepted file is not at its path any more, and at another path the same
       * bytes fail with the same code. Where no such path is, IGNORE leaves the acceptance as it is.
       */
      followAccepted: run<[]>(
        `UPDATE OR IGNORE accepted SET (folder, name) = (
           SELECT folder, name FROM failures JOIN files USING (folder, name)
           WHERE failures.code = accepted.code AND files.hash = accepted.hash AND state = 'failed'
             AND (folder, name) NOT IN (SELECT folder, name FROM accepted) LIMIT 1)
         WHERE ${hasLeft}`,
      ),
      /**
       * Ends the acceptances of files that are gone. While any file is still to be read, it may be the accepted file at
       * another path.
       */
      unacceptGone: changes<[]>(
        `DELETE FROM accepted WHERE ${hasLeft}
           AND NOT EXISTS (SELECT 1 FROM failures WHERE folder = accepted.folder AND name = accepted.name)
           AND NOT EXISTS (SELECT 1 FROM files WHERE state = 'pending' AND state <> 'synced')`,
      ),
    },
  }
}
