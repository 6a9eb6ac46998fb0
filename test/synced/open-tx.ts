import type { Db } from '../../src/synced/database.ts'
import { openSynced, type Tx } from '../../src/synced/synced.ts'

/** The tables with their writes, each call a transaction of its own: for tests of the tables alone. */
export function openTx(db: Db) {
  const synced = openSynced(db)
  const tx = synced.commitNow((kept: Tx) => kept)
  return { ...synced, ...tx }
}
