import { existsSync } from 'node:fs'
import type { Config } from '../../config/schema.ts'
import { openDatabase, openDatabaseToRead } from '../../synced/database.ts'
import { openStanding, type Standing } from '../../synced/standing.ts'
import { explained, isOfDatabase } from '../../synced/state-error.ts'
import { openSynced, type Synced } from '../../synced/synced.ts'
import { stateFiles } from '../state/claim.ts'
import { refuseOther } from '../state/state.ts'

/** The records, opened for work that only reads and may take long. */
export interface Reading {
  synced: Synced
  standing: Standing
}

/**
 * Reads the records of a state without locking it, so a daemon may work with the state meanwhile. A state that does not
 * exist yet reads as empty. Throws StateError, also where the state belongs to another config.
 */
export async function reading<T>(config: Config, work: (reading: Reading) => Promise<T>): Promise<T> {
  const { database } = stateFiles(config.state_dir)
  const db = existsSync(database) ? openDatabaseToRead(database) : openDatabase(':memory:')
  try {
    const synced = openSynced(db)
    refuseOther(synced, config)
    return await work({ synced, standing: openStanding(db) })
  } catch (error) {
    throw isOfDatabase(error) ? explained(error, database) : error
  } finally {
    db.close()
  }
}
