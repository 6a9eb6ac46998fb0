import Database from 'better-sqlite3'
import { migrate, versionOf } from './migrate.ts'
import { STEPS } from './schema.ts'
import { explained } from './state-error.ts'

export type Db = Database.Database

/**
 * Opens or makes the database at `file` (':memory:' for one that nobody keeps), and brings an older one up to date.
 * `steps`: the versions of the schema; for tests. Every commit is on the disk before it returns: a lost commit would send
 * a picture twice. Throws StateError.
 *
 * A statement that searches an index of many rows writes what is bound as `+?`. This SQLite is built with STAT4: where
 * the planner could look at a bound value, each new value has the statement prepared again, ten times its work.
 */
export function openDatabase(file: string, steps: readonly string[] = STEPS): Db {
  const db = connect(file, {})
  try {
    // Only before the first table, and before WAL, can a file learn to give room back. Later it would only be written to.
    if (db.pragma('page_count', { simple: true }) === 0) db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('journal_mode = WAL')
    // A log that one large commit made long, or a reader that stayed, is cut to this.
    db.pragma(`journal_size_limit = ${16 * 2 ** 20}`)
    db.pragma('synchronous = FULL')
    db.pragma('foreign_keys = ON')
    migrate(db, file, steps)
    // What a change in a group would be undone from: a picture's passes 64 KiB, and was written to a temporary file.
    db.pragma('temp_store = MEMORY')
  } catch (error) {
    db.close()
    throw explained(error, file)
  }
  return db
}

/**
 * Opens an existing database to look at it, beside a process that writes. One of an older albumd is looked at in a
 * copy in memory that was brought up to date. Throws StateError.
 */
export function openDatabaseToRead(file: string, steps: readonly string[] = STEPS): Db {
  const db = connect(file, { readonly: true, fileMustExist: true })
  try {
    const version = versionOf(db, file, steps)
    if (version === steps.length) return db
    // Another process is just about to make it: it holds nothing yet.
    const copy = version === 0 ? openDatabase(':memory:', steps) : upToDate(db.serialize(), file, steps)
    db.close()
    return copy
  } catch (error) {
    db.close()
    throw explained(error, file)
  }
}

function upToDate(image: Buffer, file: string, steps: readonly string[]): Db {
  // The file format's version, to write and to read: 2 is WAL, which memory does not have.
  image[18] = 1
  image[19] = 1
  const db = new Database(image)
  migrate(db, file, steps)
  return db
}

function connect(file: string, options: Database.Options): Db {
  try {
    return new Database(file, { timeout: 5000, ...options })
  } catch (error) {
    throw explained(error, file)
  }
}
