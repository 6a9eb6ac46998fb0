import type { Db } from './database.ts'

/** Runs `change` in a transaction and resolves once it is on the disk. Rejects with what `change` threw. */
export type Commit = <T>(change: () => T) => Promise<T>

interface Waiting {
  change: () => unknown
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

/**
 * Group commit: all changes of one turn share one transaction, so eight uploads pay for one fdatasync.
 * Each change has a savepoint of its own: one that throws takes nothing else with it.
 */
export function groupCommits(db: Db): Commit {
  let waiting: Waiting[] = []

  const flush = () => {
    const group = waiting
    waiting = []
    const settle: (() => void)[] = []
    try {
      db.transaction(() => {
        for (const { change, resolve, reject } of group) {
          try {
            const value = db.transaction(change)()
            settle.push(() => resolve(value as never))
          } catch (error) {
            settle.push(() => reject(error))
          }
        }
      }).immediate()
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    for (const tell of settle) tell()
  }

  return change =>
    new Promise((resolve, reject) => {
      waiting.push({ change, resolve, reject })
      if (waiting.length === 1) setImmediate(flush)
    })
}
