import type { Db } from '../database.ts'
import { statements } from '../statements.ts'
import type { FileKey } from './files.ts'

/** Ids of images that albumd deleted. A host may be late to show that they are gone. */
export function openDeleted(db: Db) {
  const { changes, has, run } = statements(db)
  return {
    reads: {
      has: has<[remoteId: string]>('SELECT at FROM deleted WHERE remote_id = ?'),
      /** Whether any of these ids was deleted before this time, so that there is something to forget. Reads all rows. */
      isFrom: has<[moment: number]>('SELECT remote_id FROM deleted WHERE at < +? LIMIT 1'),
    },
    writes: {
      /** `at`: milliseconds since 1970. */
      put: run<[remoteId: string, at: number]>(
        'INSERT INTO deleted (remote_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
      ),
      /** Forgets at most so many ids that were deleted before this time. Answers how many. */
      dropBefore: changes<[moment: number, most: number]>(
        'DELETE FROM deleted WHERE remote_id IN (SELECT remote_id FROM deleted WHERE at < +? LIMIT +?)',
      ),
    },
  }
}

/** Images that look like a picture of a mirror, and whose bytes proved to be other bytes. */
export function openRefuted(db: Db) {
  const { has, run } = statements(db)
  return {
    reads: {
      has: has<[remoteId: string, hash: Buffer]>('SELECT hash FROM refuted WHERE remote_id = ? AND hash = ?'),
    },
    writes: {
      /** Records that an image has other bytes than those of this hash. */
      put: run<[remoteId: string, hash: Buffer]>(
        'INSERT OR IGNORE INTO refuted (remote_id, hash) VALUES (?, ?)',
      ),
    },
  }
}

/** Files whose upload is in doubt, and that a person asked to send again (`retry --resend`). */
export function openResend(db: Db) {
  const { has, run } = statements(db)
  return {
    reads: {
      has: has<[FileKey]>('SELECT folder FROM resend WHERE folder = @folder AND name = @name'),
    },
    writes: {
      put: run<[FileKey]>('INSERT OR IGNORE INTO resend (folder, name) VALUES (@folder, @name)'),
      remove: run<[FileKey]>('DELETE FROM resend WHERE folder = @folder AND name = @name'),
    },
  }
}
