import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { because, inWords } from '../words/reasons.ts'
import { StateError } from './state-error.ts'
import type { RootIdentity } from './tables/mirrors.ts'

/** A lock that lasts until `release` is called or the process ends. It ends also when the process is killed. */
export interface Lock {
  release(): void
}

/** Another process holds the lock. `code`: LOCKED. */
export class LockedError extends Error {
  override name = 'LockedError'
  readonly code = 'LOCKED'
}

/**
 * Locks a state for this process. The lock is an exclusive transaction on an empty database. It writes nothing, so it can be
 * taken on a full disk. Throws LockedError, StateError and SQLite's errors.
 */
export function lockState(file: string): Lock {
  // The timeout is needed, because `stateIsLocked` of another command holds the lock for a moment.
  const db = new Database(file, { timeout: 500 })
  try {
    // Without this, SQLite begins a journal file, and a full disk has no room for that file.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (isBusy(error)) throw new LockedError(`${dirname(file)}: another albumd has this state; stop it first`)
    throw noLock(error, file)
  }
  return { release: () => void db.close() }
}

/** Whether a process has locked the state at this moment. */
export function stateIsLocked(file: string): boolean {
  if (!existsSync(file)) return false
  const db = new Database(file, { readonly: true, timeout: 0 })
  try {
    db.prepare('SELECT count(*) FROM sqlite_master').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw noLock(error, file)
  } finally {
    db.close()
  }
}

/**
 * The error for a lock that could not be taken. When the lock's file is damaged, albumd can't tell whether the state is
 * locked, and a person must remove the file.
 */
function noLock(error: unknown, file: string): unknown {
  const code = (error as { code?: string }).code ?? ''
  return code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')
    ? new StateError('STATE_UNREADABLE', `${file}: the lock is damaged; remove it while no albumd runs`)
    : error
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code?.startsWith('SQLITE_BUSY') ?? false
}

/**
 * Locks a mirror's folder, so that only one albumd on this machine mirrors it, whatever its state or user. Nothing may be
 * written into the folder, so the lock is a socket in Linux's abstract namespace, named after the folder's device and inode.
 * Other systems have no such namespace, so there only the state is locked.
 */
export async function lockFolder(folder: string, root: RootIdentity): Promise<Lock> {
  if (process.platform !== 'linux') return { release() {} }
  const server = createServer(socket => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new LockedError(inWords(because('mirrored_by_another', { folder })))
          : error,
      ),
    )
    server.listen({ path: `\0albumd/mirror/${root.dev}/${root.ino}` }, resolve)
  })
  server.unref()
  return { release: () => void server.close() }
}
