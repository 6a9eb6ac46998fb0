import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { explained, StateError } from '../../synced/state-error.ts'
import { markOf, readWitness } from '../../synced/witness.ts'
import { shellWord } from '../../words/shell-word.ts'
import { stateFiles } from './state.ts'

/**
 * Says in one line that the state is gone or known to be damaged; null: it is neither. For commands that only read the
 * state, because they would show an empty one. Throws StateError where this user may not read it.
 */
export function stateProblem(stateDir: string): string | null {
  refuseClosed(stateDir)
  const { database, witness: file } = stateFiles(stateDir)
  try {
    const witness = readWitness(file)
    if (witness && markOf(database) === null)
      return `${database}: the state is gone; "albumd sync" or "albumd adopt" makes a new one from the host's listing`
    return witness?.damaged ? `${database}: the state is damaged; the next sync or run sets it aside` : null
  } catch (error) {
    throw explained(error, file)
  }
}

/** Throws StateError where this user may not look into the folder. Otherwise it would seem that there is no state. */
export function refuseClosed(stateDir: string): void {
  try {
    lstatSync(`${stateDir}/.`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM') throw closedState(stateDir)
  }
}

/** The error for a `path` that this user may not use, with the owner of it or of the folder above that hides it. */
export function closedState(path: string): StateError {
  const { at, uid } = nearestSeen(path)
  const why =
    uid === process.geteuid?.()
      ? `${at}: its permissions keep its own user out (EACCES); chmod u+rwx ${shellWord(at)}`
      : `${path}: it is another user's; run this as the user that albumd runs as, or with sudo`
  return new StateError('STATE_UNREADABLE', why)
}

function nearestSeen(path: string): { at: string; uid: number | null } {
  try {
    return { at: path, uid: lstatSync(path).uid }
  } catch {
    const above = dirname(path)
    return above === path ? { at: path, uid: null } : nearestSeen(above)
  }
}
