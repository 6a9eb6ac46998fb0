import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { StateError } from './state-error.ts'
import type { RootIdentity } from './tables/mirrors.ts'

/** Ends by `release`, or with the process, however that ends. */
export interface Lock {
  release(): void
}

/** Another process holds it. `code`: LOCKED. */
export class LockedError extends Error {
  override name = 'LockedError'
  readonly code = 'LOCKED'
}

/**
 * Only one albumd has a state: an exclusive transaction on a database that holds nothing else. It writes nothing, so a
 * full disk does not keep it from being taken. Throws LockedError, StateError and what SQLite throws.
 */
export function lockState(file: string): Lock {
  // The moment that `stateIsLocked` takes must not keep a daemon from starting.
  const db = new Database(file, { timeout: 500 })
  try {
    // Else SQLite begins a journal of what is never written, for which a full disk has no room.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (isBusy(error)) throw new LockedError(`${dirname(file)}: another albumd has this state; stop it first`)
    throw noLock(error, file)
  }
  return { release: () => void db.close() }
}

/** Whether a process has the state now. */
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

/** Nobody can tell whether a file that is something else is held: a person must. */
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
 * Only one albumd on this machine mirrors a folder, whatever its state or user: nothing may be written into the
 * folder, so the lock is a socket in Linux's abstract namespace, named after the folder's device and inode.
 * Elsewhere there is no such namespace, and the state's lock must do.
 */
export async function lockFolder(folder: string, root: RootIdentity): Promise<Lock> {
  if (process.platform !== 'linux') return { release() {} }
  const server = createServer(socket => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new LockedError(`${folder}: another albumd mirrors this folder`)
          : error,
      ),
    )
    server.listen({ path: `\0albumd/mirror/${root.dev}/${root.ino}` }, resolve)
  })
  server.unref()
  return { release: () => void server.close() }
}
