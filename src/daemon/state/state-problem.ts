import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { explained, OF_ANOTHER, StateError } from '../../synced/state-error.ts'
import { markOf, readWitness } from '../../synced/witness.ts'
import { shellWord } from '../../words/text.ts'
import { orNull } from '../or-null.ts'
import { stateFiles } from './claim.ts'

/** A line that says that the state is gone or damaged, or null. For commands that only read. Throws StateError. */
export function stateProblem(stateDir: string): string | null {
  refuseClosed(stateDir)
  const { database, witness: file } = stateFiles(stateDir)
  try {
    const witness = readWitness(file)
    if (witness && markOf(database) === null)
      return `${database}: State is gone. "albumd sync" makes a new one from what the host lists`
    return witness?.damaged ? `${database}: State is damaged. The next sync or run sets it aside` : null
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

/** The error for a `path` that this user may not use. It names the owner of the path, or of the folder above that hides it. */
export function closedState(path: string): StateError {
  const { at, isOwn } = whoRefuses(path)
  const why = isOwn
    ? `${at} keeps its own user out (EACCES). Say chmod u+rwx ${shellWord(at)}`
    : `${path} ${OF_ANOTHER}`
  return new StateError('STATE_UNREADABLE', why)
}

/** What keeps this user from `path`: the file or folder there, or the folder above that hides it. */
export function whoRefuses(path: string): { at: string; isOwn: boolean } {
  const above = dirname(path)
  const uid = orNull(() => lstatSync(path).uid)
  return uid !== null || above === path ? { at: path, isOwn: uid === process.geteuid?.() } : whoRefuses(above)
}
