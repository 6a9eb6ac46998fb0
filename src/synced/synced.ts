import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Db, openSpace, statements } from './database.ts'
import { explained, isOfDatabase } from './state-error.ts'
import { openSummaries } from './summary.ts'
import { openAccount } from './tables/account.ts'
import { openAlbums, openContents, openUnusedAlbums } from './tables/albums.ts'
import { openAudit } from './tables/audit.ts'
import { openEscrow } from './tables/escrow.ts'
import { openFailures } from './tables/failures.ts'
import { openFiles, openResend } from './tables/files.ts'
import { openFolders } from './tables/folders.ts'
import { openHistory } from './tables/history.ts'
import { openDeleted, openImages, openRefuted } from './tables/images.ts'
import { openJournal } from './tables/journal.ts'
import { openMeta } from './tables/meta.ts'
import { openMirrors } from './tables/mirrors.ts'

function openTables(db: Db) {
  const sql = statements(db)
  return {
    account: openAccount(sql),
    albums: openAlbums(sql),
    audit: openAudit(sql),
    contents: openContents(sql),
    deleted: openDeleted(sql),
    unusedAlbums: openUnusedAlbums(sql),
    escrow: openEscrow(sql),
    failures: openFailures(sql),
    files: openFiles(sql),
    folders: openFolders(sql),
    history: openHistory(sql),
    images: openImages(sql),
    journal: openJournal(sql),
    meta: openMeta(sql),
    mirrors: openMirrors(sql),
    refuted: openRefuted(sql),
    resend: openResend(sql),
    space: openSpace(db),
    summaries: openSummaries(sql),
  }
}

type Tables = ReturnType<typeof openTables>

/** The records, table by table. Every call is synchronous. */
export type Records = { readonly [T in keyof Tables]: Tables[T]['reads'] }

/**
 * What may be called within a transaction: reads, which see what this transaction has written, and writes. Only `commit`
 * and `commitNow` hand out a Tx, so that a write outside a transaction does not compile.
 */
export type Tx = { readonly [T in keyof Tables]: Tables[T]['reads'] & Tables[T]['writes'] }

/** The records, and the only way to change them. */
export interface Synced extends Records {
  /**
   * Runs `change` in a transaction and resolves with its result once the change is on the disk. `change` must not keep
   * the Tx. Rejects with what `change` threw, or with a StateError when the database failed.
   */
  commit<T>(change: (tx: Tx) => T): Promise<T>
  /** Like `commit`, but at once. Only for the opening and closing of the records, when nothing else writes. */
  commitNow<T>(change: (tx: Tx) => T): T
  close(): void
}

/** `check` is called before each transaction, and throws when nothing may be written. */
export function openSynced(db: Db, check: () => void = () => {}): Synced {
  const log = openLog(db)
  const commit = groupCommits(db, { check, sync: log.sync })
  const tables = Object.entries(openTables(db))
  const records = Object.fromEntries(tables.map(([name, { reads }]) => [name, reads])) as unknown as Records
  const tx = Object.fromEntries(
    tables.map(([name, { reads, writes }]) => [name, { ...reads, ...writes }]),
  ) as unknown as Tx
  // Made once, because making a transaction costs more than a small change.
  const atOnce = db.transaction((change: (tx: Tx) => unknown) => change(tx))
  return {
    ...records,
    commit: change => commit(() => change(tx)),
    commitNow<T>(change: (tx: Tx) => T) {
      check()
      const value = atOnce.immediate(change) as T
      log.syncNow()
      return value
    },
    close() {
      log.close()
      db.close()
    },
  }
}

const toDisk = promisify(fdatasync)

/**
 * The database's write-ahead log. SQLite writes each commit to the log, and albumd itself syncs the log to the disk, because
 * SQLite would let the whole process wait meanwhile: a tenth of a millisecond on a quick disk, and many on a memory card.
 * Commits lie in the log in their order, so after a power cut no commit is there without those before it.
 *
 * A process that closes any descriptor of a file loses all its locks on this file. SQLite has no locks on the log.
 */
function openLog(db: Db) {
  let opened: number | null = null
  const isLogged = db.pragma('journal_mode', { simple: true }) === 'wal'
  // The log is there from the first commit on.
  const log = () => {
    opened ??= openSync(`${db.name}-wal`, 'r+')
    return opened
  }
  return {
    sync: () => (isLogged ? toDisk(log()) : null),
    syncNow: () => isLogged && fdatasyncSync(log()),
    close: () => opened !== null && closeSync(opened),
  }
}

/**
 * Runs `change` in a transaction, and resolves once the transaction is on the disk. Rejects with what `change` threw. After
 * the database has failed, every call rejects with a StateError, because memory and records may differ.
 */
export type Commit = <T>(change: () => T) => Promise<T>

interface Waiting {
  change: () => unknown
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

/** A group waits until so many milliseconds after the group before, so that the changes of eight uploads share it. */
const APART_MS = 2

/**
 * After so many groups of a single change, a group waits no longer, because nobody shares it. Every so many groups, a group
 * waits again, to find out whether others share it by now.
 */
const SINGLES = 16

/** Calls back at the end of this turn of the event loop, or `APART_MS` after the last time. */
function apart(): (flush: () => void, singles: number) => void {
  let last = Number.NEGATIVE_INFINITY
  return (flush, singles) => {
    const isShared = singles < SINGLES || singles % SINGLES === 0
    const wait = isShared ? last + APART_MS - performance.now() : 0
    const call = () => {
      last = performance.now()
      flush()
    }
    if (wait > 0) setTimeout(call, wait)
    else setImmediate(call)
  }
}

export interface GroupOptions {
  /** Called before each transaction. Throws when nothing may be written. */
  check?: () => void
  /** Brings what was committed to the disk. Null, or left out: nothing has to be waited for. */
  sync?: () => Promise<void> | null
  /** Calls back when the group is to be committed. `singles`: how many groups in a row had a single change. */
  schedule?: (flush: () => void, singles: number) => void
}

/**
 * Group commit: changes that come shortly one after the other, or while the group before is synced to the disk, share one
 * transaction, so eight uploads need one fdatasync. Each change has its own savepoint, so a change that throws undoes only
 * itself.
 */
export function groupCommits(
  db: Db,
  { check = () => {}, sync = () => null, schedule = apart() }: GroupOptions = {},
): Commit {
  let waiting: Waiting[] = []
  let isSyncing = false
  let singles = 0
  let failure: unknown = null
  // These are made once, because making them costs more than a small change.
  const inSavepoint = db.transaction((change: () => unknown) => change())
  const inTransaction = db.transaction((work: () => void) => work())

  /** Answers how to tell each caller of its change, once the transaction is on the disk. */
  const commitGroup = (group: readonly Waiting[]): (() => void)[] => {
    const settle: (() => void)[] = []
    if (failure !== null) throw failure
    check()
    inTransaction.immediate(() => {
      for (const { change, resolve, reject } of group) {
        try {
          const value = inSavepoint(change)
          settle.push(() => resolve(value as never))
        } catch (error) {
          // SQLite may have rolled back the whole transaction. A further change would then run in a transaction of its own.
          if (isOfDatabase(error)) throw error
          settle.push(() => reject(error))
        }
      }
    })
    return settle
  }

  const flush = () => {
    const group = waiting
    waiting = []
    singles = group.length === 1 ? singles + 1 : 0
    const fail = (error: unknown) => {
      failure = explained(error, db.name)
      for (const { reject } of group) reject(failure)
    }
    try {
      const settle = commitGroup(group)
      const done = () => {
        for (const tell of settle) tell()
      }
      const synced = sync()
      if (synced === null) return done()
      isSyncing = true
      void synced.then(done, fail).finally(() => {
        isSyncing = false
        if (waiting.length > 0) schedule(flush, singles)
      })
    } catch (error) {
      fail(error)
    }
  }

  return change =>
    new Promise((resolve, reject) => {
      waiting.push({ change, resolve, reject })
      if (waiting.length === 1 && !isSyncing) schedule(flush, singles)
    })
}
