import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { closeRead, openDatabaseToRead } from '../../synced/database.ts'
import { writeCopy } from '../../synced/migrate.ts'
import { orNull } from '../or-null.ts'
import { stateFiles } from '../state/claim.ts'
import { refuseClosed } from '../state/state-problem.ts'
import { NotPossible } from './command.ts'

/** Copies the records to `file`, while a daemon may run. Returns the copy's size in bytes. Throws NotPossible and StateError. */
export function backUp({ state_dir }: Config, file: string): number {
  refuseClosed(state_dir)
  const { database } = stateFiles(state_dir)
  if (!existsSync(database))
    throw new NotPossible(`${state_dir}: No state yet. The first sync or run makes it`)
  const folder = orNull(() => realpathSync(dirname(file)))
  if (folder === null)
    throw new NotPossible(`${dirname(file)} is not there. Make the folder, or name another file`)
  if (folder === realpathSync(state_dir))
    throw new NotPossible(`${file} is in the state folder itself. Name a file on another disk`)
  if (orNull(() => statSync(file))?.isDirectory())
    throw new NotPossible(`${file} is a folder. Name a file in it, such as ${join(file, 'albumd.db')}`)
  if (existsSync(file) && !isBackup(file))
    throw new NotPossible(`${file} is no backup of albumd, so it is not replaced. Name another file`)
  const db = openDatabaseToRead(database)
  try {
    writeCopy(db, join(folder, `.${basename(file)}.tmp`), join(folder, basename(file)))
  } catch (error) {
    throw notWritten(folder, error as NodeJS.ErrnoException)
  } finally {
    closeRead(db, database)
  }
  return statSync(file).size
}

function notWritten(folder: string, { code, message }: NodeJS.ErrnoException): NotPossible {
  return new NotPossible(
    `Backup could not be written into ${folder} (${code ?? message}). Check its disk and permissions`,
  )
}

function isBackup(file: string): boolean {
  return orNull(() => closeRead(openDatabaseToRead(file), file)) !== null
}
