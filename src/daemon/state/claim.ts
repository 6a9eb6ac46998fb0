import { hash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { type Lock, LockedError, lockFolder, lockState } from '../../synced/lock.ts'
import { explained, StateError } from '../../synced/state-error.ts'
import { orNull } from '../or-null.ts'

/** The paths of the files in a state folder. */
export const stateFiles = (stateDir: string) => ({
  database: join(stateDir, 'albumd.db'),
  witness: join(stateDir, 'albumd.witness'),
  lock: join(stateDir, 'lock.db'),
  problemNote: join(stateDir, 'albumd.trouble'),
  control: join(stateDir, 'control.sock'),
  page: join(stateDir, 'page.sock'),
  pageKey: join(stateDir, 'page.key'),
})

/** A state folder and the mirrors' folders, locked for this process. */
export interface Claim {
  roots: RootLocks
  /** This process has found its records replaced, and has not opened those that are there now. */
  replaced: boolean
  /**
   * Locks the state folder that is there now, where somebody has put another folder in the place of the locked one.
   * Answers whether there was another folder. Throws StateError.
   */
  renew(): boolean
  release(): void
}

/** Locks the state folder, which is made where it does not exist, and the mirrors' folders. Throws LockedError and StateError. */
export function claimState(config: Config): Claim {
  const lockFile = stateFiles(config.state_dir).lock
  let lock = take(lockFile)
  let taken = idOf(lockFile)
  const roots = new RootLocks(config.mirrors.map(({ folder }) => folder))
  const renew = () => {
    // No folder is made where none exists, because somebody may be about to move the state back.
    if (idOf(lockFile) === taken || !existsSync(config.state_dir)) return false
    const before = lock
    try {
      lock = take(lockFile)
    } catch (error) {
      // Another albumd's lock is an error that may pass. This daemon has worked already, so it waits.
      throw error instanceof LockedError ? new StateError('STATE_BUSY', error.message) : error
    }
    taken = idOf(lockFile)
    before.release()
    return true
  }
  const release = () => {
    roots.release()
    lock.release()
  }
  try {
    for (const taken of roots.lockMissing().values()) throw taken
    return { roots, replaced: false, renew, release }
  } catch (error) {
    release()
    throw error
  }
}

/** The locks on the mirrors' roots. A root that does not exist has no lock, and nothing of it is sent or deleted. */
export class RootLocks {
  #folders: readonly string[]
  readonly #locks = new Map<string, Lock>()

  constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  /** Locks the roots that exist and are not locked yet. Answers the roots that another albumd has locked. */
  lockMissing(): Map<string, LockedError> {
    const taken = new Map<string, LockedError>()
    for (const folder of this.#folders) {
      const root = this.#locks.has(folder) ? null : orNull(() => realDisk.lstat(folder))
      if (root === null) continue
      try {
        this.#locks.set(folder, lockFolder(folder, root))
      } catch (error) {
        if (!(error instanceof LockedError)) throw error
        taken.set(folder, error)
      }
    }
    return taken
  }

  /** Makes these folders the roots from now on. Releases the locks on all others. */
  follow(folders: readonly string[]): void {
    this.#folders = folders
    for (const [folder, lock] of this.#locks)
      if (!folders.includes(folder)) {
        lock.release()
        this.#locks.delete(folder)
      }
  }

  release(): void {
    for (const lock of this.#locks.values()) lock.release()
  }
}

function take(lockFile: string): Lock {
  const stateDir = dirname(lockFile)
  try {
    makeFolder(stateDir, 0o700)
    return lockState(lockFile)
  } catch (error) {
    if (error instanceof LockedError || error instanceof StateError) throw error
    const why = explained(error, stateDir)
    if (why instanceof StateError && why.code === 'STATE_FULL') throw why
    const { code, message } = error as NodeJS.ErrnoException
    throw new StateError(
      'STATE_UNREADABLE',
      code === 'EEXIST' || code === 'ENOTDIR'
        ? `${stateDir} is not a folder. Move it away, or name another state_dir`
        : `${stateDir}: State can't be kept here (${code ?? message}). Check state_dir and its permissions`,
    )
  }
}

/**
 * The device and inode of a file. While the lock keeps the file open, no other file has them. Null: the file does not
 * exist, or can't be looked at.
 */
function idOf(file: string): string | null {
  const stats = orNull(() => statSync(file, { bigint: true }))
  return stats && `${stats.dev}/${stats.ino}`
}

/** A hash that is equal for configs under which a command does the same, whatever path or link leads to the config. */
export function fingerprintOf(config: Config): string {
  const { log, status_page, host, ...obeyed } = config
  const { key_beside, ...obeyedHost } = host
  return hash('sha256', JSON.stringify({ ...obeyed, host: obeyedHost }))
}
