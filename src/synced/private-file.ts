import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { shellWord } from '../words/text.ts'
import { StateError } from './state-error.ts'

/** The permission bits of group and others. */
const OTHERS = 0o077

/**
 * Makes sure that only its owner can read a file, whatever the folder lets others do. A file that does not exist is made
 * empty, because SQLite would make it readable for everybody. Throws StateError when others can read the file, and that can't
 * be changed; throws Node's errors.
 */
export function makePrivate(file: string): void {
  try {
    // A file that is there is not opened, because closing it would end this process's locks on it.
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  if (!isOpenToOthers(file)) return
  try {
    chmodSync(file, 0o600)
  } catch {
    // The next look at the mode tells whether this worked.
  }
  if (isOpenToOthers(file))
    throw new StateError(
      'STATE_UNREADABLE',
      `${file}: others can read it; chmod 600 ${shellWord(file)} as its owner, or name a state_dir on a disk that has permissions`,
    )
}

function isOpenToOthers(file: string): boolean {
  // Windows has no such permissions, and answers made-up ones.
  return process.platform !== 'win32' && (statSync(file).mode & OTHERS) !== 0
}
