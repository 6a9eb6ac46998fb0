import { groupCommits } from './commits.ts'
import { type Db, openSpace } from './database.ts'
import { openSummaries } from './summary.ts'
import { openAccount } from './tables/account.ts'
import { openAlbums } from './tables/albums.ts'
import { openAudit } from './tables/audit.ts'
import { openContents } from './tables/contents.ts'
import { openEscrow } from './tables/escrow.ts'
import { openFailures } from './tables/failures.ts'
import { openFiles } from './tables/files.ts'
import { openFolders } from './tables/folders.ts'
import { openHistory } from './tables/history.ts'
import { openImages } from './tables/images.ts'
import { openJournal } from './tables/journal.ts'
import { openDeleted, openRefuted, openResend } from './tables/marks.ts'
import { openMeta } from './tables/meta.ts'
import { openMirrors } from './tables/mirrors.ts'
import { openUnusedAlbums } from './tables/unused-albums.ts'

function openTables(db: Db) {
  return {
    account: openAccount(db),
    albums: openAlbums(db),
    audit: openAudit(db),
    contents: openContents(db),
    deleted: openDeleted(db),
    unusedAlbums: openUnusedAlbums(db),
    escrow: openEscrow(db),
    failures: openFailures(db),
    files: openFiles(db),
    folders: openFolders(db),
    history: openHistory(db),
    images: openImages(db),
    journal: openJournal(db),
    meta: openMeta(db),
    mirrors: openMirrors(db),
    refuted: openRefuted(db),
    resend: openResend(db),
    space: openSpace(db),
    summaries: openSummaries(db),
  }
}

type Tables = ReturnType<typeof openTables>

/** The records, table by table. Every call is synchronous. */
export type Records = { readonly [T in keyof Tables]: Tables[T]['reads'] }

/**
 * What may be called within a transaction: reads, which see what this transaction has written, and writes. Only `commit`
 * hands out a Tx, so that a write outside a transaction does not compile.
 */
export type Tx = { readonly [T in keyof Tables]: Tables[T]['reads'] & Tables[T]['writes'] }

/** The records, and the only way to change them. */
export interface Synced extends Records {
  /**
   * Runs `change` in a transaction and resolves with its result once the change is on the disk. `change` must not keep
   * the Tx. Rejects with what `change` threw, or with a StateError when the database failed.
   */
  commit<T>(change: (tx: Tx) => T): Promise<T>
  /** Like `commit`, but at once. For the moments when the records are opened or closed, and nothing else writes. */
  commitNow<T>(change: (tx: Tx) => T): T
  close(): void
}

/** `check` is called before each transaction, and throws where nothing may be written. */
export function openSynced(db: Db, check: () => void = () => {}): Synced {
  const commit = groupCommits(db, check)
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
      return atOnce.immediate(change) as T
    },
    close: () => void db.close(),
  }
}
