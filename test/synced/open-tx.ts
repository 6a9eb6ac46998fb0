import { onTestFinished } from 'vitest'
import { type Db, openDatabase } from '../../src/synced/database.ts'
import { openSynced, type Synced, type Tx } from '../../src/synced/synced.ts'

export function memoryDb(): Db {
  const db = openDatabase(':memory:')
  onTestFinished(() => void db.close())
  return db
}

/** A state in which nothing is recorded. */
export const emptyState = (): Synced => openSynced(memoryDb())

/** The tables with their writes, each call a transaction of its own: for tests of the tables alone. */
export function openTx(db: Db) {
  const synced = openSynced(db)
  const tx = synced.commitNow((kept: Tx) => kept)
  return { ...synced, ...tx }
}
