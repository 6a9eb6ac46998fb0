import type { Disk } from '../../local/disk.ts'

/** Whether something is at a picture's path, or could be. */
export function isThere(disk: Disk, path: string): boolean {
  return whetherThere(disk, path) !== 'no'
}

export function whetherThere(disk: Disk, path: string): 'yes' | 'no' | 'unknown' {
  try {
    // A folder in its place means that the picture is gone. A link or an empty file may be the picture, left out for now.
    return disk.lstat(path).kind === 'folder' ? 'no' : 'yes'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'no' : 'unknown'
  }
}
