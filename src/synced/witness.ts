import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * The witness is a small file beside the database. It shows whether an older copy of the database was put back. The witness
 * counts how often the database was opened, and an older copy was opened less often. And the witness holds the ctime of the
 * database, which no tool can set.
 */
export interface Witness {
  /** How often the database was opened for work. */
  generation: number
  /**
   * What the database's file looked like after a clean end. Null while a process works on the database, and after an end
   * that was not clean.
   */
  closed: FileMark | null
  /** Whether intents were open in the journal at a clean end. */
  unsettled: boolean
  /** Whether the database proved to be damaged while a process worked on it. */
  damaged: boolean
  /** What the witness's own file looks like. */
  mark: FileMark
}

/**
 * The mark of a file, which changes when the file is replaced or written. Nanoseconds and inode numbers are decimal text,
 * because a JavaScript number does not hold them exactly.
 */
export interface FileMark {
  ino: string
  size: string
  ctime: string
}

/** What the database has recorded about its witness. */
export interface Remembered {
  /** Null: no witness was ever written for this database. */
  generation: number | null
  /** `seenAs` of the witness when the database was last opened. */
  witness: string | null
}

/**
 * new: there is no state. lost: there was a database, and it is gone. clean: the database is as the last process left it.
 * cut_off: the last process did not end cleanly. restored: the database is an older copy, or another program changed it.
 */
export type Verdict = 'new' | 'lost' | 'clean' | 'cut_off' | 'restored'

/** `database`: the mark of the database before it was opened; null when the file did not exist or was empty. */
export function judge(
  { generation, witness: seen }: Remembered,
  database: FileMark | null,
  witness: Witness | null,
): Verdict {
  if (database === null) return witness ? 'lost' : 'new'
  // A database that no process has opened for work yet has no witness.
  if (!witness) return generation === null ? 'cut_off' : 'restored'
  const opened = generation ?? 0
  if (opened < witness.generation) return 'restored'
  // This is so after a power cut between writing the database and writing the witness.
  if (opened > witness.generation) return 'cut_off'
  if (witness.closed) return sameFile(witness.closed, database) ? 'clean' : 'restored'
  // When database and witness were restored from one copy, they agree on how often the state was opened. But the restored
  // witness is a new file, and the database remembers the mark of the old file.
  const sawThisOne = seen?.startsWith(`${opened} `) && seen !== seenAs(witness)
  return sawThisOne ? 'restored' : 'cut_off'
}

/** The witness as the database remembers it. */
export function seenAs({ generation, mark }: Pick<Witness, 'generation' | 'mark'>): string {
  return `${generation} ${mark.ino} ${mark.ctime}`
}

/** Null when the file does not exist, or was not written by albumd. */
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

/** Replaces the witness atomically, and syncs it to the disk. Answers the new file's mark. */
export function writeWitness(file: string, witness: Omit<Witness, 'mark'>): FileMark {
  const unfinished = `${file}.tmp`
  try {
    writeFileSync(unfinished, `${JSON.stringify(witness)}\n`, { mode: 0o600, flush: true })
    renameSync(unfinished, file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  sync(dirname(file))
  return markOf(file)!
}

/** The mark of a file, or null when it does not exist or is empty. */
export function markOf(file: string): FileMark | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (!stats || stats.size === 0n) return null
  return { ino: String(stats.ino), size: String(stats.size), ctime: String(stats.ctimeNs) }
}

/** Like `markOf`, after the file's times were synced to the disk, so that the mark stays the same after a power cut. */
export function lastingMarkOf(file: string): FileMark | null {
  sync(file)
  return markOf(file)
}

function sync(path: string): void {
  const open = openSync(path, 'r')
  try {
    fsyncSync(open)
  } catch (error) {
    // Some systems can't sync a folder, or a file that is open for reading.
    if (!['EISDIR', 'EINVAL', 'EPERM', 'EBADF'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
  } finally {
    closeSync(open)
  }
}

function sameFile(a: FileMark, b: FileMark): boolean {
  return a.ino === b.ino && a.size === b.size && a.ctime === b.ctime
}
