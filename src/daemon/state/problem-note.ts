import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'

/** Tells `albumd status` why a running daemon can't open its state. */
export interface ProblemNote {
  /** Null: the state is open again. */
  write(line: string | null): void
  remove(): void
}

const BYTES = 1024

/**
 * Begins a note. Its file has its full size from the start, so that the note can be written on a full disk. Where the
 * file can't be written, there is no note, and nothing else changes.
 */
export function beginProblemNote(file: string): ProblemNote {
  // A file that exists is overwritten, because a full disk has no room for another one.
  const write = (line: string | null) => gently(() => overwrite(file, line ?? ''))
  if (!write(null)) gently(() => writeFileSync(file, text(''), { mode: 0o600 }))
  return { write, remove: () => void gently(() => rmSync(file)) }
}

/** Null: there is no note. */
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
