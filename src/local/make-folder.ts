import { closeSync, constants, mkdirSync, openSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isAt } from './open-file.ts'
import { takeRights } from './rights.ts'
import { toDisk } from './to-disk.ts'

/** Makes a folder and those above it, and syncs them. `mode`: of each. `like`: whose rights the folder takes; of none, those of
 * the folder above, as those between do. `folder` is a real path then. Throws Node's error. Node's recursive mkdir is not used: it
 * never returns where a folder gets ENOENT although its parent exists, as in /proc. */
export function makeFolder(folder: string, mode: number, like?: readonly Stats[]): void {
  try {
    makeOne(folder, mode, like)
  } catch (error) {
    const parent = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error
    makeFolder(parent, mode, like && [])
    makeOne(folder, mode, like)
  }
}

/** Makes one folder. A folder that exists already is no error. */
function makeOne(folder: string, mode: number, like?: readonly Stats[]): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
    return
  }
  if (like) {
    const made = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      if (isAt(made, folder)) takeRights(made, like.length > 0 ? like : [statSync(dirname(folder))])
    } finally {
      closeSync(made)
    }
  }
  try {
    toDisk(dirname(folder))
  } catch {
    // The folder above can't be synced, for example because this user may not read it. The folder in it was made all the same.
  }
}
