import Database from 'better-sqlite3'
import { SCHEMA, SCHEMA_VERSION } from './schema.ts'

export type Db = Database.Database

/** A state that can't be used as it is. `code`: STATE_NEWER, STATE_DAMAGED, STATE_UNREADABLE, or why it is another's. */
export class StateError extends Error {
  override name = 'StateError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Opens or makes the database at `file` (':memory:' for one that nobody keeps).
 * Every commit is on the disk before it returns: a lost commit would send a picture twice.
 */
export function openDatabase(file: string): Db {
  const db = connect(file, {})
  try {
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('foreign_keys = ON')
    migrate(db, file)
  } catch (error) {
    db.close()
    throw explained(error, file)
  }
  return db
}

/** Opens an existing database to look at it, beside a process that writes. */
export function openDatabaseToRead(file: string): Db {
  const db = connect(file, { readonly: true, fileMustExist: true })
  try {
    // Another process is just about to make it: it holds nothing yet.
    if (refuseNewer(db, file) === 0) return openDatabase(':memory:')
  } catch (error) {
    db.close()
    throw explained(error, file)
  }
  return db
}

function connect(file: string, options: Database.Options): Db {
  try {
    return new Database(file, { timeout: 5000, ...options })
  } catch (error) {
    throw explained(error, file)
  }
}

function migrate(db: Db, file: string): void {
  if (refuseNewer(db, file) === SCHEMA_VERSION) return
  db.transaction(() => {
    db.exec(SCHEMA)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  }).immediate()
}

function refuseNewer(db: Db, file: string): number {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > SCHEMA_VERSION)
    throw new StateError(
      'STATE_NEWER',
      `${file}: the state was written by a newer albumd (schema ${version}, this one knows ${SCHEMA_VERSION}); install that version again`,
    )
  return version
}

function explained(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StateError) return error
  const code = (error as { code?: string }).code ?? ''
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT'))
    return new StateError('STATE_DAMAGED', `${file}: the state is damaged (${error.message}); move it aside`)
  if (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY') || error instanceof TypeError)
    return new StateError(
      'STATE_UNREADABLE',
      `${file}: the state can't be opened (${error.message}); check the folder and its permissions`,
    )
  return error
}
