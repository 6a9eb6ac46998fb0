import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { shellWord } from '../../sync/shell-word.ts'
import { explained, StateError } from '../../synced/state-error.ts'
import { markOf, readWitness } from '../../synced/witness.ts'
import { stateFiles } from './state.ts'

/**
 * What a look at a state that is not opened for work would hide: that it is gone, or known to be damaged. In a line, or
 * null. What opens it says so itself. Throws StateError where this user may not look at all.
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

/** To whoever may not look into a state, it would look as if there were none. Throws StateError. */
export function refuseClosed(stateDir: string): void {
  try {
    lstatSync(`${stateDir}/.`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM') throw closedState(stateDir)
  }
}

/** `path`: what this user may not use. Its owner, or that of the folder above that hides it, can open it. */
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
