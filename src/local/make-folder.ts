import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { toDisk } from './to-disk.ts'

/** Makes a folder and those above it, and syncs them. `mode`: of each. Throws Node's error. Node's recursive mkdir is not used:
 * it never returns where a folder gets ENOENT although its parent exists, as in /proc. */
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
    // The folder above can't be synced, for example because this user may not read it. The folder in it was made all the same.
  }
}
