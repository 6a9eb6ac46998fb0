import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { toDisk } from './to-disk.ts'

/** Makes a folder, and those above it, so that a power cut does not take them. `mode`: of all. Throws Node's error. Node's
 * recursive mkdir never returns where ENOENT comes for a folder whose parent exists, as in /proc. */
export function makeFolder(folder: string, mode: number): void {
  try {
    makeOne(folder, mode)
  } catch (error) {
    const parent = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error
    makeFolder(parent, mode)
    makeOne(folder, mode)
  }
}

/** Makes one folder. A folder that exists already is no error. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
    return
  }
  try {
    toDisk(dirname(folder))
  } catch {
    // A folder that this user may not read, for example, can't be synced. The folder in it was made all the same.
  }
}
