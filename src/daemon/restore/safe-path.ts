/**
 * Whether a recorded path leads to a file below the folder that it is put under, and nowhere else: records are data, and
 * may have been changed by others.
 */
export function isSafePath(path: string): boolean {
  if (path.includes('\0')) return false
  const parts = path.split('/')
  return parts.every(part => part !== '' && part !== '.' && part !== '..') && parts[0] !== OWN_FOLDER
}

/** Where a restore keeps what is its own, in the folder that it fills. */
export const OWN_FOLDER = '.albumd-restore'
