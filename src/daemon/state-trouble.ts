import { markOf, readWitness } from '../synced/witness.ts'
import { stateFiles } from './state.ts'

/**
 * What a look at a state that is not opened for work would hide: that it is gone, or known to be damaged. In a line, or
 * null. What opens it says so itself.
 */
export function stateTrouble(stateDir: string): string | null {
  const { database, witness: file } = stateFiles(stateDir)
  const witness = readWitness(file)
  if (witness && markOf(database) === null)
    return `${database}: the state is gone; "albumd sync" or "albumd adopt" makes a new one from the host's listing`
  return witness?.damaged ? `${database}: the state is damaged; the next sync or run sets it aside` : null
}
