import Database from 'better-sqlite3'

/** Another host serves this data. */
export class DataInUseError extends Error {
  override name = 'DataInUseError'
  readonly code = 'HOST_DATA_IN_USE'
}

export interface DataLock {
  release(): void
}

/**
 * One host to a data folder: an exclusive transaction on a database that holds nothing else. It ends with the process,
 * however that ends. Throws DataInUseError.
 */
export function lockData(folder: string, file: string): DataLock {
  const db = new Database(file, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new DataInUseError(`${folder}: another host serves this folder`)
    throw error
  }
  return { release: () => void db.close() }
}
