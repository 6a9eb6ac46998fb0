import type { Db } from '../database.ts'

/** Images that look like a picture of ours, and whose bytes proved to be another's. */
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
      /** The image has other bytes than those of this hash. */
      put: (remoteId: string, hash: Buffer) => void put.run(remoteId, hash),
    },
  }
}
