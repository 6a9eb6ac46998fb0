import { closeSync, fsyncSync, openSync } from 'node:fs'

/** The errors of systems that can't sync a folder, or a file that is open only for reading. */
const IGNORED = ['EISDIR', 'EINVAL', 'EPERM', 'EBADF', 'ENOTSUP', 'EOPNOTSUPP']

/** Syncs a file or a folder. After a power cut, a file whose folder was not synced may have lost its name. */
export function toDisk(path: string): void {
  const open = openSync(path, 'r')
  try {
    fsyncSync(open)
  } catch (error) {
    if (!IGNORED.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(open)
  }
}
