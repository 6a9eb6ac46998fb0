import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'

/** What keeps a daemon from its records, where `status` finds it. */
export interface ProblemNote {
  /** Null: nothing any more. */
  write(line: string | null): void
  remove(): void
}

const BYTES = 1024

/**
 * Begins a note. Its file has all its room from the beginning, for a full disk gives none. The note is a courtesy:
 * where it can't be kept, there is none.
 */
export function beginProblemNote(file: string): ProblemNote {
  // One that is there is written over: on a full disk a new one would find no room.
  const write = (line: string | null) => gently(() => overwrite(file, line ?? ''))
  if (!write(null)) gently(() => writeFileSync(file, text(''), { mode: 0o600 }))
  return { write, remove: () => void gently(() => rmSync(file)) }
}

/** Null where there is none. */
export function readProblemNote(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null
  } catch {
    return null
  }
}

function overwrite(file: string, line: string): void {
  const open = openSync(file, 'r+')
  try {
    writeSync(open, text(line), 0, BYTES, 0)
  } finally {
    closeSync(open)
  }
}

function text(line: string): Buffer {
  const bytes = Buffer.alloc(BYTES, ' ')
  bytes.write(line)
  return bytes
}

function gently(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}
