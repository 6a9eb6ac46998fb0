import Database from 'better-sqlite3'
import { STEPS } from './schema.ts'

export type Db = Database.Database

/**
 * Opens or makes the host's database; ':memory:' for one that nobody keeps. A commit is on the disk before it returns,
 * for the answer that follows it is a promise. Throws where the data is a newer version's.
 *
 * `+?` instead of `?`, in searches over an index of many rows, keeps SQLite from preparing the statement again for
 * each value.
 */
export function openDatabase(file: string): Db {
  const db = new Database(file)
  try {
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('foreign_keys = ON')
    migrate(db, file)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

function migrate(db: Db, file: string): void {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version === STEPS.length) return
  if (version > STEPS.length)
    throw new Error(`${file}: a newer albumd wrote it (schema ${version}); install that version again`)
  db.transaction(() => {
    for (const step of STEPS.slice(version)) db.exec(step)
    db.pragma(`user_version = ${STEPS.length}`)
  }).immediate()
}
