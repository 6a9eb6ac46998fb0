import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Db, statements } from './database.ts'
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
import { openVersions } from './tables/versions.ts'
import { openWaits } from './tables/waits.ts'

function openTables(db: Db, isCopy?: boolean, changed?: () => void) {
  const sql = statements(db, isCopy, changed)
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
    summaries: openSummaries(sql),
    versions: openVersions(sql),
    waits: openWaits(sql),
  }
}

type Tables = ReturnType<typeof openTables>

/** What may be called outside a transaction: the reads of each table. Every call is synchronous. */
export type Records = { readonly [T in keyof Tables]: Tables[T]['reads'] }

/** What may be called within a transaction: writes, and reads that see them. Only `commit` and `commitNow` hand out a Tx. */
export type Tx = { readonly [T in keyof Tables]: Tables[T]['reads'] & Tables[T]['writes'] }

/** The reads of `meta` alone, for those who need nothing else. */
export interface MetaReads {
  meta: Records['meta']
}

/** The right to change the records, for those who read nothing. */
export interface Committer {
  /** Runs `change` in a transaction, and resolves with its result once the change is on the disk. `change` must not use the
   * Tx after it has returned. Rejects with what `change` threw, or with a StateError when the database failed. 'unsynced':
   * resolves once the change is committed. A power cut undoes it until a later change is on the disk. */
  commit<T>(change: (tx: Tx) => T, until?: 'unsynced'): Promise<T>
}

/** The records, and the only way to change them. */
export interface Synced extends Records, Committer {
  /** Like `commit`, but synchronous. For when the records are opened or closed and nothing else writes. */
  commitNow<T>(change: (tx: Tx) => T): T
  /** Writes what was noted so far (see `openSynced`), and from now on each change at its commit. */
  begin(): void
  close(): void
}

export interface SyncedOptions extends Omit<GroupOptions, 'sync'> {
  /** Syncs the database's log to the disk. Tests replace it. */
  syncLog?: (descriptor: number) => Promise<void>
  /** Called once the first change that must last is on the disk, and before its promise resolves. */
  begun?: () => void
}

/** Opens the records. With `begun`, what a process notes of itself stays in a transaction that the first change ends which
 * must last: a process that changes nothing writes nothing. */
export function openSynced(db: Db, options: SyncedOptions = {}): Synced {
  const { check = () => {}, syncLog = promisify(fdatasync), begun, ...schedule } = options
  const log = openLog(db, syncLog)
  let isNoting = begun !== undefined
  let mustLast = false
  if (isNoting) db.exec('BEGIN IMMEDIATE')
  const begin = () => {
    if (!isNoting) return
    db.exec('COMMIT')
    isNoting = false
    log.syncNow()
    begun!()
  }
  const beginWhereDue = () => {
    if (mustLast) begin()
    return null
  }
  const sync = (isDue: boolean) => (isNoting ? beginWhereDue() : isDue ? log.sync() : null)
  const commit = groupCommits(db, { check, sync, ...schedule })
  const changed = () => {
    mustLast = true
  }
  const tables = Object.entries(openTables(db, options.isCopy, changed))
  const records = Object.fromEntries(tables.map(([name, { reads }]) => [name, reads])) as unknown as Records
  const tx = Object.fromEntries(
    tables.map(([name, { reads, writes }]) => [name, { ...reads, ...writes }]),
  ) as unknown as Tx
  // The function is made once, because `db.transaction` takes longer than a small change.
  const atOnce = db.transaction((change: (tx: Tx) => unknown) => change(tx))
  return {
    ...records,
    commit: (change, until) => commit(() => change(tx), until),
    commitNow<T>(change: (tx: Tx) => T) {
      check()
      const value = atOnce.immediate(change) as T
      if (isNoting) beginWhereDue()
      else log.syncNow()
      return value
    },
    begin,
    close() {
      if (isNoting && db.inTransaction) db.exec('ROLLBACK')
      // Does not wait for a reader: while another process or a restore reads, SQLite leaves the log as it is, as after a crash.
      try {
        db.pragma('busy_timeout = 0')
        db.pragma('wal_checkpoint(TRUNCATE)')
      } catch {
        // The log stays, and holds what the file lacks.
      }
      log.close()
      db.close()
    },
  }
}

/** The database's write-ahead log. SQLite writes each commit to the log, and albumd syncs the log to the disk. If SQLite
 * synced it, the whole process would wait: a tenth of a millisecond on a quick disk, and many milliseconds on a memory
 * card. The log holds the commits in their order. So after a power cut, a commit is there only if all earlier commits are.
 *
 * When a process closes any descriptor of a file, it loses all its locks on this file. The log may be opened and closed
 * here, because SQLite has no locks on it. */
function openLog(db: Db, syncLog: (descriptor: number) => Promise<void>) {
  let opened: number | null = null
  const isLogged = db.pragma('journal_mode', { simple: true }) === 'wal'
  // The log is opened late, because the file exists only from the first commit on.
  const log = () => {
    opened ??= openSync(`${db.name}-wal`, 'r+')
    return opened
  }
  return {
    sync: () => (isLogged ? syncLog(log()) : null),
    syncNow: () => isLogged && fdatasyncSync(log()),
    close: () => opened !== null && closeSync(opened),
  }
}

/** As `Committer.commit`. After the database has failed, every call rejects: memory may be wrong by then. */
export type Commit = <T>(change: () => T, until?: 'unsynced') => Promise<T>

interface Waiting {
  change: () => unknown
  until: 'unsynced' | undefined
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

/** The time between two groups, in which the changes of eight uploads get into one group. */
const APART_MS = 2

/** After so many single changes in a row, groups do not wait for others. One in so many does, to see whether others come. */
const SINGLES = 16

/** Makes a schedule: it flushes at the end of this turn, or `APART_MS` after the last flush to wait for other changes. */
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
  /** Syncs what was committed to the disk. `isDue`: a change of the group waits for it. Null, or left out: no sync is needed. */
  sync?: (isDue: boolean) => Promise<void> | null
  /** For a copy. All changes share one transaction that never ends, because each end writes pages. It is of no use after one
   * throws. */
  isCopy?: boolean
  /** Calls `flush` when the group is to be committed. `singles`: how many groups in a row had a single change. */
  schedule?: (flush: () => void, singles: number) => void
}

/** Group commit: changes that come shortly after each other, or during the last sync, share a transaction. So eight uploads need
 * one sync. Each change has a savepoint, so that a change that throws undoes only itself. */
export function groupCommits(
  db: Db,
  { check = () => {}, sync = () => null, schedule = apart(), isCopy = false }: GroupOptions = {},
): Commit {
  let waiting: Waiting[] = []
  let isSyncing = false
  let singles = 0
  let failure: unknown = null
  // The functions are made once, because `db.transaction` takes longer than a small change.
  const inSavepoint = db.transaction((change: () => unknown) => change())
  const inTransaction = db.transaction((work: () => void) => work()).immediate
  const together = isCopy ? (work: () => void) => work() : inTransaction
  if (isCopy) db.exec('BEGIN')

  /** Commits a group. Returns functions that tell each caller its result. Call them once the transaction is on the disk. */
  const commitGroup = (group: readonly Waiting[]): (() => void)[] => {
    const settle: (() => void)[] = []
    if (failure !== null) throw failure
    check()
    together(() => {
      for (const { change, resolve, reject } of group) {
        try {
          const value = isCopy ? change() : inSavepoint(change)
          settle.push(() => resolve(value as never))
        } catch (error) {
          // SQLite may have rolled back the whole transaction, so a further change of the group would run outside of it.
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
      const synced = sync(group.some(({ until }) => until !== 'unsynced'))
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

  return (change, until) =>
    new Promise((resolve, reject) => {
      waiting.push({ change, until, resolve, reject })
      if (waiting.length === 1 && !isSyncing) schedule(flush, singles)
    })
}
