import type { Db } from './database.ts'
import { explained, isOfDatabase } from './state-error.ts'

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

/**
 * Group commit: all changes of one turn of the event loop share one transaction, so eight uploads need one fdatasync. Each
 * change has its own savepoint, so a change that throws undoes nothing else. `check` is called before each transaction, and
 * throws where nothing may be written. `schedule` calls back at the end of a turn.
 */
export function groupCommits(
  db: Db,
  check: () => void = () => {},
  schedule: (flush: () => void) => void = flush => void setImmediate(flush),
): Commit {
  let waiting: Waiting[] = []
  let failure: unknown = null
  // These are made once, because making them costs more than a small change.
  const inSavepoint = db.transaction((change: () => unknown) => change())
  const inTransaction = db.transaction((work: () => void) => work())

  const flush = () => {
    const group = waiting
    waiting = []
    const settle: (() => void)[] = []
    try {
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
    } catch (error) {
      failure = explained(error, db.name)
      for (const { reject } of group) reject(failure)
      return
    }
    for (const tell of settle) tell()
  }

  return change =>
    new Promise((resolve, reject) => {
      waiting.push({ change, resolve, reject })
      if (waiting.length === 1) schedule(flush)
    })
}
