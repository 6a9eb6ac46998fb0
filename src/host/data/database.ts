import Database from 'better-sqlite3'
import { SCHEMA, SCHEMA_VERSION } from './schema.ts'

export type Db = Database.Database

/**
 * Opens or makes the host's database; ':memory:' for one that nobody keeps. A commit is on the disk before it returns,
 * for the answer that follows it is a promise. Throws where the data is a newer version's.
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
  const version = db.pragma('user_version', { simple: true })
  if (version === SCHEMA_VERSION) return
  if (version !== 0)
    throw new Error(`${file}: a newer albumd wrote it (schema ${version}); install that version again`)
  db.transaction(() => {
    db.exec(SCHEMA)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  }).immediate()
}
