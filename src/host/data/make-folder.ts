import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder for its owner alone, and those above it that are missing. Rejects with Node's error. Node's own
 * recursive mkdir never ends where a file system answers ENOENT although the parent is there, as /proc does.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await makeOne(folder)
  } catch (error) {
    const parent = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error
    await makeFolder(parent)
    await makeOne(folder)
  }
}

/** It may be there already, as long as it is a folder. */
async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw error
  }
}
