import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { toDisk } from '../local/to-disk.ts'
import { shellWord } from '../words/text.ts'
import { StateError } from './state-error.ts'

/** The permission bits of group and others. */
const OTHERS = 0o077

/** Makes sure that only its owner can read a file. Makes an empty file where there is none, because SQLite would make one that
 * everybody can read. Throws StateError where the permissions can't be changed, and Node's errors. */
export function makePrivate(file: string): void {
  try {
    // 'wx' opens only a new file: closing an existing one would end this process's locks on it.
    closeSync(makeFile(file))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    giveToUser(file)
  }
  if (!isOpenToOthers(file)) return
  try {
    chmodSync(file, 0o600)
  } catch {
    // The error is ignored, because the permissions are checked once more below.
  }
  if (isOpenToOthers(file))
    throw new StateError(
      'STATE_UNREADABLE',
      `${file} can be read by others. Say chmod 600 ${shellWord(file)} as its owner, or name a state_dir on a disk that has permissions`,
    )
}

/** Makes an empty file. When root makes it in another user's state, that user becomes its owner, who could not open it otherwise.
 * The owner is set through the descriptor, because the user may put a link in its place at any moment. */
function makeFile(file: string): number {
  const made = openSync(file, 'wx', 0o600)
  if (process.geteuid?.() === 0) {
    const { uid, gid } = statSync(dirname(file))
    fchownSync(made, uid, gid)
  }
  return made
}

/** Gives what root put into another user's state, such as a backup, to that user. Leaves a file with a second name. */
function giveToUser(file: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(file))
  if (uid === 0 || lstatSync(file).uid !== 0) return
  const there = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { uid: owner, nlink } = fstatSync(there)
    if (owner === 0 && nlink === 1) fchownSync(there, uid, gid)
  } finally {
    closeSync(there)
  }
}

function isOpenToOthers(file: string): boolean {
  // Windows has no such permissions, so the mode there is made up.
  return process.platform !== 'win32' && (statSync(file).mode & OTHERS) !== 0
}

/** Replaces a file atomically by one that only its owner can read. The new file and its times are on the disk when this returns.
 * `text`: the text, or a function that makes it from the stats of the new, still empty file. Throws Node's errors. */
export function replaceFile(file: string, text: string | ((made: BigIntStats) => string)): void {
  const unfinished = `${file}.tmp`
  try {
    rmSync(unfinished, { force: true })
    const made = makeFile(unfinished)
    try {
      const whole = typeof text === 'string' ? text : text(fstatSync(made, { bigint: true }))
      writeFileSync(made, whole, { flush: true })
    } finally {
      closeSync(made)
    }
    renameSync(unfinished, file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  // Renaming has changed the ctime of the file. The ctime is no part of the folder, so the file is synced once more.
  toDisk(file)
  toDisk(dirname(file))
}
