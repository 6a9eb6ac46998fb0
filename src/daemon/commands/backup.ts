import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { openDatabaseToRead } from '../../synced/database.ts'
import { writeCopy } from '../../synced/migrate.ts'
import { orNull } from '../or-null.ts'
import { stateFiles } from '../state/claim.ts'
import { NotPossible } from './command.ts'

/**
 * Writes a copy of the records to `file`, beside a daemon that goes on working, and replaces an older backup there. Answers
 * the size of the copy in bytes. Throws NotPossible and StateError.
 */
export function backUp({ state_dir }: Config, file: string): number {
  const { database } = stateFiles(state_dir)
  if (!existsSync(database))
    throw new NotPossible(`${state_dir}: No state yet. The first sync or run makes it`)
  const folder = orNull(() => realpathSync(dirname(file)))
  if (folder === null)
    throw new NotPossible(`${dirname(file)} is not there. Make the folder, or name another file`)
  if (folder === realpathSync(state_dir))
    throw new NotPossible(`${file} is in the state folder itself. Name a file on another disk`)
  if (existsSync(file) && !isBackup(file))
    throw new NotPossible(`${file} is no backup of albumd, so it is not replaced. Name another file`)
  const db = openDatabaseToRead(database)
  try {
    writeCopy(db, join(folder, `.${basename(file)}.tmp`), join(folder, basename(file)))
  } catch (error) {
    throw new NotPossible(`${file}: Backup could not be written (${(error as Error).message})`)
  } finally {
    db.close()
  }
  return statSync(file).size
}

function isBackup(file: string): boolean {
  const mirrors = orNull(() => {
    const db = openDatabaseToRead(file)
    try {
      return db.prepare('SELECT count(*) FROM mirrors').get()
    } finally {
      db.close()
    }
  })
  return mirrors !== null
}
