import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../local/make-folder.ts'
import { type Lock, LockedError, lockState } from '../../synced/lock.ts'
import { explained, StateError } from '../../synced/state-error.ts'

/** A state folder, for this process alone. */
export interface StateFolder {
  /**
   * Takes the folder that is there now, where it is not the one that was taken: somebody put another in its place.
   * Answers whether it did. Throws StateError.
   */
  renew(): boolean
  /** Whether the folder that is there now is the one that was taken. */
  isInPlace(): boolean
  release(): void
}

/** Makes the folder of this lock file where it is not there. Throws LockedError and StateError. */
export function takeStateFolder(lockFile: string): StateFolder {
  let lock = take(lockFile)
  let taken = idOf(lockFile)
  return {
    renew() {
      // Where there is none nothing is made: whoever puts one back must find the place free.
      if (idOf(lockFile) === taken || !existsSync(dirname(lockFile))) return false
      const before = lock
      lock = takeLater(lockFile)
      taken = idOf(lockFile)
      before.release()
      return true
    },
    isInPlace: () => idOf(lockFile) === taken,
    release: () => lock.release(),
  }
}

/** Another albumd may end: this one has worked, and waits. */
function takeLater(lockFile: string): Lock {
  try {
    return take(lockFile)
  } catch (error) {
    throw error instanceof LockedError ? new StateError('STATE_BUSY', error.message) : error
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
      `${stateDir}: the state can't be kept here (${code ?? message}); check state_dir and its permissions`,
    )
  }
}

/** No other file has it while the lock holds this one open. Null where it is not there, or can't be looked at. */
function idOf(file: string): string | null {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev}/${ino}`
  } catch {
    return null
  }
}
