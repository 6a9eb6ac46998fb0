import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those above it that are missing. `mode`: their permission bits. Throws Node's error. Node's own
 * recursive mkdir never ends where a file system answers ENOENT although the parent is there, as /proc does.
 */
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

/** It may be there already, as long as it is a folder. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
}
