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
 * What stands beside the database to know it by. A database that was put back from a backup looks like any other; but
 * no tool can set a file's ctime, and an older one was opened less often than the witness saw.
 */
export interface Witness {
  /** How often the database was opened for work. */
  generation: number
  /** The database as a clean end left it; null while a process works on it, and after any other end. */
  closed: FileMark | null
  /** A clean end that left something in the journal: it may have happened, or happen yet. */
  unsettled: boolean
  /** It proved to be damaged while it was worked on. */
  damaged: boolean
  /** Of the witness's own file. */
  mark: FileMark
}

/** Nanoseconds and inodes as decimal text, for no double counts them exactly. */
export interface FileMark {
  ino: string
  size: string
  ctime: string
}

/** What the database itself remembers. */
export interface Remembered {
  /** Null: it was never opened by an albumd that counts. */
  generation: number | null
  /** `seenAs` of the witness when the database was last opened. */
  witness: string | null
}

/**
 * new: there was nothing. lost: there was a database, and it is gone. clean: as the last process left it. cut_off: it
 * may be, after an end that was not clean. restored: it is an old one, or others changed it.
 */
export type Verdict = 'new' | 'lost' | 'clean' | 'cut_off' | 'restored'

/** `database`: as it was found before it was opened; null where it was not there or empty. */
export function judge(
  { generation, witness: seen }: Remembered,
  database: FileMark | null,
  witness: Witness | null,
): Verdict {
  if (database === null) return witness ? 'lost' : 'new'
  // One of an albumd that did not count yet has no witness.
  if (!witness) return generation === null ? 'cut_off' : 'restored'
  const opened = generation ?? 0
  if (opened < witness.generation) return 'restored'
  // The power went between the two.
  if (opened > witness.generation) return 'cut_off'
  if (witness.closed) return sameFile(witness.closed, database) ? 'clean' : 'restored'
  // A whole folder that was put back has a witness of the same count, but not the same file.
  const sawThisOne = seen?.startsWith(`${opened} `) && seen !== seenAs(witness)
  return sawThisOne ? 'restored' : 'cut_off'
}

/** The witness as the database remembers it. */
export function seenAs({ generation, mark }: Pick<Witness, 'generation' | 'mark'>): string {
  return `${generation} ${mark.ino} ${mark.ctime}`
}

/** Null where it is not there, or nothing that albumd wrote. */
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

/** Replaces the witness; whole and on the disk, or not at all. Answers the new file's mark. */
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

/** The mark of a file, or null where it is not there or empty. */
export function markOf(file: string): FileMark | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (!stats || stats.size === 0n) return null
  return { ino: String(stats.ino), size: String(stats.size), ctime: String(stats.ctimeNs) }
}

/** The mark that a closed file will keep, also after a power cut: its times are on the disk. */
export function lastingMarkOf(file: string): FileMark | null {
  sync(file)
  return markOf(file)
}

function sync(path: string): void {
  const open = openSync(path, 'r')
  try {
    fsyncSync(open)
  } catch (error) {
    // Not every system can do it with a folder, or with what is open to read.
    if (!['EISDIR', 'EINVAL', 'EPERM', 'EBADF'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
  } finally {
    closeSync(open)
  }
}

function sameFile(a: FileMark, b: FileMark): boolean {
  return a.ino === b.ino && a.size === b.size && a.ctime === b.ctime
}
