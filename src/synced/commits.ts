import type { Db } from './database.ts'
import { explained, isOfDatabase } from './state-error.ts'

/**
 * Runs `change` in a transaction and resolves once it is on the disk. Rejects with what `change` threw; with a
 * StateError where the database failed, and from then on always: what is in memory may no longer be what is recorded.
 */
export type Commit = <T>(change: () => T) => Promise<T>

interface Waiting {
  change: () => unknown
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

/**
 * Group commit: all changes of one turn share one transaction, so eight uploads pay for one fdatasync.
 * Each change has a savepoint of its own: one that throws takes nothing else with it. `schedule` says when a turn ends.
 */
export function groupCommits(
  db: Db,
  schedule: (flush: () => void) => void = flush => void setImmediate(flush),
): Commit {
  let waiting: Waiting[] = []
  let failure: unknown = null
  // To make these costs more than a small change does.
  const inSavepoint = db.transaction((change: () => unknown) => change())
  const inTransaction = db.transaction((work: () => void) => work())

  const flush = () => {
    const group = waiting
    waiting = []
    const settle: (() => void)[] = []
    try {
      if (failure !== null) throw failure
      inTransaction.immediate(() => {
        for (const { change, resolve, reject } of group) {
          try {
            const value = inSavepoint(change)
            settle.push(() => resolve(value as never))
          } catch (error) {
            // SQLite may have rolled back all of it: a further change would be a transaction of its own.
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
