import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * The real path of what may not be there yet: real as far as it is. A link whose end is missing is followed all the
 * same, so that a folder has one name whether its disk is mounted or not.
 */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const end = (error as NodeJS.ErrnoException).code === 'ENOENT' ? endOfLink(path) : null
    if (end !== null) return realPathOf(resolve(dirname(path), end))
    const parent = dirname(path)
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

/** Null for what is no link. */
function endOfLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
