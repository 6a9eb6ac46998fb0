import { open } from 'node:fs/promises'

/** What was made, moved or removed in a folder is on the disk. Not every file system has that for folders. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } catch (error) {
    if (!MEANS_NO.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

const MEANS_NO: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM'])
