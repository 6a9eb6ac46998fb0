import { existsSync, readFileSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { migrate, versionOf } from './migrate.ts'
import { makePrivate } from './private-file.ts'
import { STEPS } from './schema.ts'
import { explained, StateError } from './state-error.ts'

export type Db = Database.Database

/** Opens or creates the database at `file` (':memory:' for a database without a file), and migrates an older database.
 * `steps`: the versions of the schema, which tests replace. Each commit is on the disk before its promise resolves, because
 * after a lost commit a picture would be sent twice. Throws StateError.
 *
 * Statements that search an index of many rows write a bound value as `+?`. Without the `+`, SQLite would prepare the
 * statement again for each new value, because this SQLite is built with STAT4 and plans by the bound values. That would
 * take ten times as long as the statement itself. */
export function openDatabase(file: string, steps: readonly string[] = STEPS): Db {
  if (file !== ':memory:') keepPrivate(file)
  const db = connect(file, {})
  try {
    const mode = db.pragma('journal_mode = WAL', { simple: true })
    // A migration writes into the log alone. The witness still tells how the database looked at its last end, so a process
    // that is killed here must not have changed the database: it would seem restored.
    db.pragma('wal_autocheckpoint = 0')
    // SQLite shortens the log to this size after a large commit or a long reader has made it longer.
    db.pragma(`journal_size_limit = ${16 * 2 ** 20}`)
    // With WAL, openSynced syncs the log after each commit. Without it SQLite syncs, and FULL would leave out the end of its
    // journal, which after a power cut would undo the last commit.
    db.pragma(`synchronous = ${mode === 'wal' ? 'NORMAL' : 'EXTRA'}`)
    db.pragma('foreign_keys = ON')
    migrate(db, file, steps)
    // The log is copied into the database at so many pages, and the process waits meanwhile. A page written often is copied once.
    db.pragma('wal_autocheckpoint = 4000')
    // The savepoints of a group commit take more than 64 KiB, for which SQLite would write a temporary file.
    db.pragma('temp_store = MEMORY')
    // Keeps 4096 KiB of pages in memory. With four times as much, a first scan of 100,000 files is no quicker.
    db.pragma('cache_size = -4096')
  } catch (error) {
    db.close()
    throw explained(error, file)
  }
  return db
}

/** Opens an existing database for reading. One of an older albumd is migrated in memory; one in a folder where this process
 * may not write is copied there, because SQLite makes files beside it. Throws StateError. */
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
    const isClosed = /^SQLITE_(READONLY|CANTOPEN)/.test((error as { code?: string }).code ?? '')
    // What is in the log is missing in the database's file, so the file alone may be read only where the log is empty.
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
    if (!isClosed || hasLog) throw explained(error, file)
  }
  try {
    return upToDate(readFileSync(file), file, steps)
  } catch (error) {
    throw explained(error, file)
  }
}

/** Closes a database that was opened to read, and lets SQLite remove the empty log that the reader leaves. */
export function closeRead(read: Db, file: string): void {
  read.close()
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size !== 0) return
  const db = connect(file, { fileMustExist: true })
  try {
    db.pragma('schema_version')
  } finally {
    db.close()
  }
}

function upToDate(image: Buffer, file: string, steps: readonly string[]): Db {
  // Bytes 18 and 19 state the versions of the file format. 2 means WAL, which is not possible in memory, so both become 1.
  image[18] = 1
  image[19] = 1
  const db = new Database(image)
  migrate(db, file, steps)
  return db
}

/** A new log gets the permissions of the database, but a log that is there already may have others. */
function keepPrivate(file: string): void {
  const beside = [`${file}-wal`, `${file}-shm`].filter(path => existsSync(path))
  try {
    for (const path of [file, ...beside]) makePrivate(path)
  } catch (error) {
    // Any other error is ignored here: SQLite will meet it too when it opens the file, and its message says more.
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

/** The memory of one table: reads that answer again what they read before. It keeps only what is committed. What a transaction
 * reads of a table that it has written is not kept, so a rollback leaves nothing wrong behind. A database that is open for
 * reading keeps nothing, because another process writes it. A copy keeps everything, because nothing is rolled back there. */
class TableMemory {
  readonly #db: Db
  readonly #isCopy: boolean
  readonly #reads: Map<unknown, unknown>[] = []
  #isWritten = false
  /** The keys of the rows that this transaction has written. `undefined` stands for the question whether the table has a row. */
  readonly #written = new Set<unknown>()
  /** Whether the table is known to have no row. False also when that is not known. */
  readonly isEmpty: () => boolean

  constructor(db: Db, isCopy: boolean, hasNoRow: () => boolean) {
    this.#db = db
    this.#isCopy = isCopy
    const read = this.keeping(hasNoRow)
    this.isEmpty = () => !db.readonly && !this.#wasWritten(undefined) && read()
  }

  /** Returns the read `read` with a memory: it answers again what it read before. Nobody may change what it returns. */
  keeping<P extends (string | number | null)[], Value>(read: (...bound: P) => Value): (...bound: P) => Value {
    const kept = new Map<unknown, unknown>()
    this.#reads.push(kept)
    return (...bound) => {
      const key = bound.length > 1 ? bound.join('/') : bound[0]
      const known = kept.get(key)
      if (known !== undefined || kept.has(key)) return known as Value
      const value = read(...bound)
      if (!this.#mayKeep(key)) return value
      if (kept.size >= MOST_KEPT) kept.clear()
      kept.set(key, Object.freeze(value))
      return value
    }
  }

  forget(): void {
    this.#isWritten = true
    for (const kept of this.#reads) if (kept.size > 0) kept.clear()
  }

  /** Forgets what was read of one row. `key`: the key of the row that was written. */
  forgetOf(key: unknown): void {
    for (const each of [key, undefined]) {
      this.#written.add(each)
      for (const kept of this.#reads) kept.delete(each)
    }
  }

  #mayKeep(key: unknown): boolean {
    return this.#isCopy || (!this.#db.readonly && !this.#wasWritten(key))
  }

  /** Whether this transaction has written what is read by this key. */
  #wasWritten(key: unknown): boolean {
    if (!this.#db.inTransaction) {
      this.#isWritten = false
      this.#written.clear()
    }
    return this.#isWritten || this.#written.has(key)
  }
}

const MOST_KEPT = 1000
const WRITES = /^\s*(INSERT|UPDATE|DELETE)(?: OR \w+)?(?: INTO| FROM)? (\w+)/

type Bound = readonly unknown[]

/** Makes functions of SQL statements. `P`: the bound values, or one object of named ones. `Row`: the columns. one: of a
 * statement that always has a row. value, column: the first column, of the first row or of all. changes: returns how many.
 * runByKey: writes the row whose key is bound first. note…: writes what need not last by itself (see `openSynced`). insert:
 * returns the row's id, or 0 where a conflict left it out. kept: a read that answers from memory until its table is written.
 * In a table known to be empty no row is looked for. `changed`: called for each change that must last. */
export function statements(db: Db, isCopy = false, changed = () => {}) {
  const tables = new Map<string, TableMemory>()

  /** Prepares a statement only when it is first used. There are two hundred, and a short command uses few of them. Values are
   * bound by their places, because SQLite's binding takes longer to find them by their names. */
  function lazily<Row>(sql: string, plucks = false) {
    const names: string[] = []
    const prepare = () => {
      const text = sql.replace(/@(\w+)/g, (_, name: string) => {
        names.push(name)
        return '?'
      })
      const prepared = db.prepare<unknown[], Row>(text)
      return plucks ? prepared.pluck() : prepared
    }
    let statement: ReturnType<typeof prepare> | null = null
    const prepared = () => {
      statement ??= prepare()
      return statement
    }
    const inPlace = (bound: Bound): Bound =>
      names.length === 0 ? bound : names.map(name => (bound[0] as Record<string, unknown>)[name])
    return {
      get: (bound: Bound) => prepared().get(...inPlace(bound)),
      all: (bound: Bound) => prepared().all(...inPlace(bound)),
      run: (bound: Bound) => prepared().run(...inPlace(bound)),
    }
  }
  function memoryOf(table: string): TableMemory {
    let memory = tables.get(table)
    if (!memory) {
      const row = lazily(`SELECT 1 FROM ${table} LIMIT 1`)
      memory = new TableMemory(db, isCopy, () => row.get([]) === undefined)
      tables.set(table, memory)
    }
    return memory
  }
  /** The table that a statement writes. `mayBeNone`: the statement changes nothing where the table is empty. */
  function targetOf(sql: string) {
    const [, verb, table] = WRITES.exec(sql)!
    return { memory: memoryOf(table!), mayBeNone: verb !== 'INSERT' }
  }
  function writes(sql: string, { isByKey = false, isNote = false } = {}) {
    const statement = lazily(sql)
    let target: ReturnType<typeof targetOf> | null = null
    return (bound: Bound) => {
      target ??= targetOf(sql)
      const { memory, mayBeNone } = target
      if (mayBeNone && memory.isEmpty()) return NOTHING_DONE
      const done = statement.run(bound)
      if (done.changes === 0) return done
      if (isByKey) memory.forgetOf(bound[0])
      else memory.forget()
      if (!isNote) changed()
      return done
    }
  }
  return {
    get<P extends unknown[], Row>(sql: string) {
      const statement = lazily<Row>(sql)
      return (...bound: P) => statement.get(bound)
    },
    one<P extends unknown[], Row>(sql: string) {
      const statement = lazily<Row>(sql)
      return (...bound: P) => statement.get(bound)!
    },
    all<P extends unknown[], Row>(sql: string) {
      const statement = lazily<Row>(sql)
      return (...bound: P) => statement.all(bound)
    },
    has<P extends unknown[]>(sql: string) {
      const statement = lazily(sql)
      return (...bound: P) => statement.get(bound) !== undefined
    },
    value<P extends unknown[], Value>(sql: string) {
      const statement = lazily<Value>(sql, true)
      return (...bound: P) => statement.get(bound) as Value
    },
    column<P extends unknown[], Value>(sql: string) {
      const statement = lazily<Value>(sql, true)
      return (...bound: P) => statement.all(bound)
    },
    run<P extends unknown[]>(sql: string) {
      const run = writes(sql)
      return (...bound: P) => void run(bound)
    },
    note<P extends unknown[]>(sql: string) {
      const run = writes(sql, { isNote: true })
      return (...bound: P) => void run(bound)
    },
    runByKey<P extends [key: string, ...others: unknown[]]>(sql: string) {
      const run = writes(sql, { isByKey: true })
      return (...bound: P) => void run(bound)
    },
    noteByKey<P extends [key: string, ...others: unknown[]]>(sql: string) {
      const run = writes(sql, { isByKey: true, isNote: true })
      return (...bound: P) => void run(bound)
    },
    changes<P extends unknown[]>(sql: string) {
      const run = writes(sql)
      return (...bound: P) => run(bound).changes
    },
    insert<P extends unknown[]>(sql: string) {
      const run = writes(sql)
      return (...bound: P) => {
        const { changes, lastInsertRowid } = run(bound)
        return changes > 0 ? Number(lastInsertRowid) : 0
      }
    },
    kept: <P extends (string | number | null)[], Value>(table: string, read: (...bound: P) => Value) =>
      memoryOf(table).keeping(read),
    isEmpty: (table: string) => memoryOf(table).isEmpty(),
  }
}

const NOTHING_DONE = { changes: 0, lastInsertRowid: 0 }

export type Statements = ReturnType<typeof statements>
