import { type BigIntStats, readFileSync, statSync } from 'node:fs'
import { toDisk } from '../local/to-disk.ts'
import { replaceFile } from './private-file.ts'

/** The witness is a small file beside the database, and shows when an older copy was put back. It counts how often the database
 * was opened. It holds the database's ctime, which no tool can set, and its own birth, which no copy has. */
export interface Witness {
  /** How often the database was opened for work. */
  generation: number
  /** What the database looked like after a clean end; else null. */
  closed: FileMark | null
  /** Whether intents were open in the journal at a clean end. */
  unsettled: boolean
  /** Whether a process found the database damaged while it worked on it. */
  damaged: boolean
  /** Whether this is the very file that albumd wrote. False for a copy of the file, and where that is not known. */
  isOriginal: boolean
  /** What the witness file itself looks like. */
  mark: FileMark
}

/** What shows that a file was replaced or written. Decimal text, because a JavaScript number is not exact enough. */
export interface FileMark {
  ino: string
  size: string
  mtime: string
  ctime: string
}

/** What the database has recorded about its witness. */
export interface Remembered {
  /** How often the database was opened for work. Null: no witness was ever written for this database. */
  generation: number | null
  /** What `seenAs` answered for the witness when the database was last opened. */
  witness: string | null
}

/** new: there is no state. lost: there was a database, and it is gone. clean: the database is as the last process left it.
 * cut_off: the last process did not end cleanly. restored: the database is an older copy, or another program changed it. */
export type Verdict = 'new' | 'lost' | 'clean' | 'cut_off' | 'restored'

/** Judges the database before it is opened. `database`: null when there is none, or an empty one. */
export function judge(
  { generation, witness: seen }: Remembered,
  database: FileMark | null,
  witness: Witness | null,
): Verdict {
  if (database === null) return witness ? 'lost' : 'new'
  // The database remembers a witness once that is on the disk, before anybody works. So a remembered witness was lost.
  if (!witness) return seen === null ? 'cut_off' : 'restored'
  const opened = generation ?? 0
  if (opened < witness.generation) return 'restored'
  // The power was cut after the database was written and before the witness was.
  if (opened > witness.generation) return 'cut_off'
  if (witness.closed) return isAsClosed(witness.closed, database, witness.isOriginal) ? 'clean' : 'restored'
  // Database and witness may both have been restored. But a restored witness has another inode and ctime than the one remembered.
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
    const { generation, closed, damaged, unsettled, born } = (JSON.parse(readFileSync(file, 'utf8')) ??
      {}) as Partial<Witness & { born: string }>
    if (!Number.isSafeInteger(generation)) return null
    return {
      generation: generation!,
      closed: closed ?? null,
      unsettled: unsettled === true,
      damaged: damaged === true,
      isOriginal: born !== undefined && born === birthOf(statSync(file, { bigint: true })),
      mark,
    }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Replaces the witness. The new one is on the disk when this returns. Returns its mark. */
export function writeWitness(file: string, witness: Omit<Witness, 'mark' | 'isOriginal'>): FileMark {
  replaceFile(file, made => `${JSON.stringify({ ...witness, born: birthOf(made) })}\n`)
  return markOf(file)!
}

/** What a file looks like. Null when the file does not exist or is empty. */
export function markOf(file: string): FileMark | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (!stats || stats.size === 0n) return null
  const { ino, size, mtimeNs, ctimeNs } = stats
  return { ino: String(ino), size: String(size), mtime: String(mtimeNs), ctime: String(ctimeNs) }
}

/** Like `markOf`, but syncs the file's times to the disk first, so that the ctime is the same after a power cut. */
export function lastingMarkOf(file: string): FileMark | null {
  toDisk(file)
  return markOf(file)
}

/** A text that only this file has, and no copy. Undefined without a time of birth, for which Node says 0 or the ctime. */
function birthOf({ ino, birthtimeNs }: BigIntStats): string | undefined {
  return birthtimeNs === 0n ? undefined : `${ino} ${birthtimeNs}`
}

/** Whether the database is as it was closed. A chmod changes only the ctime, so beside the original witness an equal mtime is
 * enough. A copy of the whole folder, written over the files, has equal mtimes too, but its witness is no original. */
function isAsClosed(closed: FileMark, now: FileMark, byOriginal: boolean): boolean {
  const isSame = closed.ino === now.ino && closed.size === now.size
  return isSame && (closed.ctime === now.ctime || (byOriginal && closed.mtime === now.mtime))
}
