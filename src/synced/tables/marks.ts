import type { Db } from '../database.ts'
import type { FileKey } from './files.ts'

/** Ids of images that albumd deleted. A host may be late to show that they are gone. */
export function openDeleted(db: Db) {
  const put = db.prepare<[string, number]>(
    'INSERT INTO deleted (remote_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
  )
  const has = db.prepare<[string], { at: number }>('SELECT at FROM deleted WHERE remote_id = ?')
  const anyBefore = db.prepare<[number], { remote_id: string }>(
    'SELECT remote_id FROM deleted WHERE at < +? LIMIT 1',
  )
  const dropBefore = db.prepare<[number, number]>(
    'DELETE FROM deleted WHERE remote_id IN (SELECT remote_id FROM deleted WHERE at < +? LIMIT +?)',
  )

  return {
    reads: {
      has: (remoteId: string) => has.get(remoteId) !== undefined,
      /** Whether an id was deleted before this time. Reads all rows. */
      isFrom: (moment: number): boolean => anyBefore.get(moment) !== undefined,
    },
    writes: {
      /** `at`: milliseconds since 1970. */
      put: (remoteId: string, at: number) => void put.run(remoteId, at),
      /** Forgets at most so many ids that were deleted before this time. Answers how many. */
      dropBefore: (moment: number, most: number): number => dropBefore.run(moment, most).changes,
    },
  }
}

/** Images that look like a picture of a mirror, and whose bytes proved to be other bytes. */
export function openRefuted(db: Db) {
  const put = db.prepare<[string, Buffer]>('INSERT OR IGNORE INTO refuted (remote_id, hash) VALUES (?, ?)')
  const has = db.prepare<[string, Buffer], { remote_id: string }>(
    'SELECT remote_id FROM refuted WHERE remote_id = ? AND hash = ?',
  )

  return {
    reads: {
      has: (remoteId: string, hash: Buffer) => has.get(remoteId, hash) !== undefined,
    },
    writes: {
      /** Records that an image has other bytes than those of this hash. */
      put: (remoteId: string, hash: Buffer) => void put.run(remoteId, hash),
    },
  }
}

/** Files whose upload is in doubt, and that a person asked to send again (`retry --resend`). */
export function openResend(db: Db) {
  const put = db.prepare<[number, string]>('INSERT OR IGNORE INTO resend (folder, name) VALUES (?, ?)')
  const has = db.prepare<[number, string], { folder: number }>(
    'SELECT folder FROM resend WHERE folder = ? AND name = ?',
  )
  const remove = db.prepare<[number, string]>('DELETE FROM resend WHERE folder = ? AND name = ?')

  return {
    reads: {
      has: ({ folder, name }: FileKey) => has.get(folder, name) !== undefined,
    },
    writes: {
      put: ({ folder, name }: FileKey) => void put.run(folder, name),
      remove: ({ folder, name }: FileKey) => void remove.run(folder, name),
    },
  }
}
