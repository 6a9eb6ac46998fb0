import { readFileSync, statSync } from 'node:fs'
import { toDisk } from '../local/to-disk.ts'
import { replaceFile } from './private-file.ts'

/**
 * The witness is a small file beside the database. It shows when an older copy of the database was put back. It counts how
 * often the database was opened, and an older copy was opened less often. It also holds the ctime of the database, which no
 * tool can set.
 */
export interface Witness {
  /** How often the database was opened for work. */
  generation: number
  /**
   * Inode, size and ctime of the database after a clean end. Null while a process works on the database, and after an end
   * that was not clean.
   */
  closed: FileMark | null
  /** Whether intents were open in the journal at a clean end. */
  unsettled: boolean
  /** Whether a process found the database damaged while it worked on it. */
  damaged: boolean
  /** Inode, size and ctime of the witness file itself. */
  mark: FileMark
}

/**
 * What shows that a file was replaced or written since. Nanoseconds and inode numbers are decimal text, because a
 * JavaScript number does not hold them exactly.
 */
export interface FileMark {
  ino: string
  size: string
  ctime: string
}

/** What the database has recorded about its witness. */
export interface Remembered {
  /** How often the database was opened for work. Null: no witness was ever written for this database. */
  generation: number | null
  /** What `seenAs` answered for the witness when the database was last opened. */
  witness: string | null
}

/**
 * new: there is no state. lost: there was a database, and it is gone. clean: the database is as the last process left it.
 * cut_off: the last process did not end cleanly. restored: the database is an older copy, or another program changed it.
 */
export type Verdict = 'new' | 'lost' | 'clean' | 'cut_off' | 'restored'

/**
 * Judges in which state the database is before it is opened. `database`: what the file looks like; null when it does not
 * exist or is empty. `witness`: null when there is no witness.
 */
export function judge(
  { generation, witness: seen }: Remembered,
  database: FileMark | null,
  witness: Witness | null,
): Verdict {
  if (database === null) return witness ? 'lost' : 'new'
  // The database remembers a witness only once the witness is on the disk, and before that nobody works with the database.
  // So when the database remembers none, its first opening was cut off. Otherwise its witness was lost.
  if (!witness) return seen === null ? 'cut_off' : 'restored'
  const opened = generation ?? 0
  if (opened < witness.generation) return 'restored'
  // The power was cut after the database was written and before the witness was.
  if (opened > witness.generation) return 'cut_off'
  if (witness.closed) return sameFile(witness.closed, database) ? 'clean' : 'restored'
  // Database and witness count the same, as when both were restored from one copy. But a restored witness is a new file
  // with another inode and ctime, and the database remembers those of the old file.
  const sawThisOne = seen?.startsWith(`${opened} `) && seen !== seenAs(witness)
  return sawThisOne ? 'restored' : 'cut_off'
}

/** The text by which the database remembers a witness file: its count, inode and ctime. */
export function seenAs({ generation, mark }: Pick<Witness, 'generation' | 'mark'>): string {
  return `${generation} ${mark.ino} ${mark.ctime}`
}

/** Reads the witness. Null when the file does not exist, or was not written by albumd. */
export function readWitness(file: string): Witness | null {
  const mark = markOf(file)
  if (!mark) return null
  try {
    const { generation, closed, damaged, unsettled } = (JSON.parse(readFileSync(file, 'utf8')) ??
      {}) as Partial<Witness>
    if (!Number.isSafeInteger(generation)) return null
    return {
      generation: generation!,
      closed: closed ?? null,
      unsettled: unsettled === true,
      damaged: damaged === true,
      mark,
    }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Replaces the witness, so that it lasts. Answers inode, size and ctime of the new file. */
export function writeWitness(file: string, witness: Omit<Witness, 'mark'>): FileMark {
  replaceFile(file, `${JSON.stringify(witness)}\n`)
  return markOf(file)!
}

/** Inode, size and ctime of a file. Null when the file does not exist or is empty. */
export function markOf(file: string): FileMark | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (!stats || stats.size === 0n) return null
  return { ino: String(stats.ino), size: String(stats.size), ctime: String(stats.ctimeNs) }
}

/** Like `markOf`, but syncs the file's times to the disk before. So after a power cut the file still has the same ctime. */
export function lastingMarkOf(file: string): FileMark | null {
  toDisk(file)
  return markOf(file)
}

function sameFile(a: FileMark, b: FileMark): boolean {
  return a.ino === b.ino && a.size === b.size && a.ctime === b.ctime
}
