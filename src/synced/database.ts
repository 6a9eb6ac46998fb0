import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { migrate, versionOf } from './migrate.ts'
import { makePrivate } from './private-file.ts'
import { STEPS } from './schema.ts'
import { explained, StateError } from './state-error.ts'

export type Db = Database.Database

/**
 * Opens or creates the database at `file` (':memory:' for a database that is not kept), and migrates an older database.
 * `steps`: the versions of the schema, which tests replace. Each commit is on the disk before it returns, because a lost
 * commit would send a picture twice. Throws StateError.
 *
 * Statements that search an index of many rows write a bound value as `+?`. Without the `+`, SQLite would prepare the
 * statement again for each new value, at ten times the statement's own cost, because this SQLite is built with STAT4 and
 * plans by the bound values.
 */
export function openDatabase(file: string, steps: readonly string[] = STEPS): Db {
  if (file !== ':memory:') keepPrivate(file)
  const db = connect(file, {})
  try {
    // A database can give room back to the disk only when this is set before its first table and before WAL.
    if (db.pragma('page_count', { simple: true }) === 0) db.pragma('auto_vacuum = INCREMENTAL')
    const mode = db.pragma('journal_mode = WAL', { simple: true })
    // The log is cut to so many bytes after a large commit or a long reader has made it longer.
    db.pragma(`journal_size_limit = ${16 * 2 ** 20}`)
    // openSynced syncs the log after each commit. Some file systems allow no log, and SQLite then syncs each commit itself.
    db.pragma(`synchronous = ${mode === 'wal' ? 'NORMAL' : 'FULL'}`)
    db.pragma('foreign_keys = ON')
    migrate(db, file, steps)
    // Savepoints of a group need more than the default of 64 KiB, and SQLite would write them to a temporary file.
    db.pragma('temp_store = MEMORY')
    // KiB of pages in memory. With four times as much, a first look at 100,000 files takes no less time.
    db.pragma('cache_size = -4096')
  } catch (error) {
    db.close()
    throw explained(error, file)
  }
  return db
}

/**
 * Opens an existing database for reading, beside a process that writes. The database of an older albumd is copied into memory
 * and migrated there. Throws StateError.
 */
export function openDatabaseToRead(file: string, steps: readonly string[] = STEPS): Db {
  const db = connect(file, { readonly: true, fileMustExist: true })
  try {
    const version = versionOf(db, file, steps)
    if (version === steps.length) return db
    // Version 0: another process is creating the database at this moment, and the database holds nothing yet.
    const copy = version === 0 ? openDatabase(':memory:', steps) : upToDate(db.serialize(), file, steps)
    db.close()
    return copy
  } catch (error) {
    db.close()
    throw explained(error, file)
  }
}

function upToDate(image: Buffer, file: string, steps: readonly string[]): Db {
  // Bytes 18 and 19 are the versions of the file format. 2 means WAL, which a database in memory can't have.
  image[18] = 1
  image[19] = 1
  const db = new Database(image)
  migrate(db, file, steps)
  return db
}

/** SQLite gives the files beside a database the database's mode, when it makes these files. */
function keepPrivate(file: string): void {
  const beside = [`${file}-wal`, `${file}-shm`].filter(path => existsSync(path))
  try {
    for (const path of [file, ...beside]) makePrivate(path)
  } catch (error) {
    // SQLite meets any other error too, when it opens the file, and SQLite's error says more.
    if (error instanceof StateError) throw error
  }
}

function connect(file: string, options: Database.Options): Db {
  try {
    return new Database(file, { timeout: 5000, ...options })
  } catch (error) {
    throw explained(error, file)
  }
}

/**
 * Makes functions of SQL statements. `P`: the bound values, or one object of named values. `Row`: the columns of a row. get:
 * the first row, or undefined. one: the only row of a statement that always has a row. all: all rows. has: whether there is a
 * row. value: the first column of the first row, or undefined. column: the first column of all rows. run: changes rows.
 * changes: changes rows, and answers how many. insert: adds a row, and answers its id.
 */
export function statements(db: Db) {
  /** Prepares a statement when it is first used, because a short command uses few of two hundred statements. */
  function lazily<Row>(sql: string, prepare = () => db.prepare<unknown[], Row>(sql)) {
    let statement: Database.Statement<unknown[], Row> | null = null
    return () => (statement ??= prepare())
  }
  const plucked = <Value>(sql: string) => lazily<Value>(sql, () => db.prepare<unknown[], Value>(sql).pluck())
  return {
    get<P extends unknown[], Row>(sql: string) {
      const statement = lazily<Row>(sql)
      return (...bound: P) => statement().get(...bound)
    },
    one<P extends unknown[], Row>(sql: string) {
      const statement = lazily<Row>(sql)
      return (...bound: P) => statement().get(...bound)!
    },
    all<P extends unknown[], Row>(sql: string) {
      const statement = lazily<Row>(sql)
      return (...bound: P) => statement().all(...bound)
    },
    has<P extends unknown[]>(sql: string) {
      const statement = lazily(sql)
      return (...bound: P) => statement().get(...bound) !== undefined
    },
    value<P extends unknown[], Value>(sql: string) {
      const statement = plucked<Value>(sql)
      return (...bound: P) => statement().get(...bound) as Value
    },
    column<P extends unknown[], Value>(sql: string) {
      const statement = plucked<Value>(sql)
      return (...bound: P) => statement().all(...bound) as Value[]
    },
    run<P extends unknown[]>(sql: string) {
      const statement = lazily(sql)
      return (...bound: P) => void statement().run(...bound)
    },
    changes<P extends unknown[]>(sql: string) {
      const statement = lazily(sql)
      return (...bound: P) => statement().run(...bound).changes
    },
    insert<P extends unknown[]>(sql: string) {
      const statement = lazily(sql)
      return (...bound: P) => Number(statement().run(...bound).lastInsertRowid)
    },
  }
}

export type Statements = ReturnType<typeof statements>

/** So many free pages (4 MiB) and a quarter of the file stay in the file, because the database may grow again. */
const KEPT_PAGES = 1024

/** Free pages in the database's file. */
export function openSpace(db: Db) {
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number

  return {
    reads: {
      /** Whether more pages are free than should stay in the file. */
      isTooMuch(): boolean {
        if (pragma('auto_vacuum') !== INCREMENTAL) return false
        return pragma('freelist_count') > KEPT_PAGES + pragma('page_count') / 4
      },
    },
    writes: {
      /** Gives at most `pages` free pages back to the disk. */
      giveBack: (pages: number): void => void db.pragma(`incremental_vacuum(${pages})`),
    },
  }
}

const INCREMENTAL = 2
