import type { Db } from '../database.ts'

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
      /** Whether one was deleted before this moment. Looks at all of them, as does the next. */
      isFrom: (moment: number): boolean => anyBefore.get(moment) !== undefined,
    },
    writes: {
      /** `at`: milliseconds since 1970. */
      put: (remoteId: string, at: number) => void put.run(remoteId, at),
      /** Forgets at most so many of those deleted before this moment. Answers how many these were. */
      dropBefore: (moment: number, most: number): number => dropBefore.run(moment, most).changes,
    },
  }
}
