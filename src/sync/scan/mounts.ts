import { dirname } from 'node:path/posix'
import type { Disk } from '../../local/disk.ts'
import type { LookAtFolders } from './scan.ts'

/**
 * Whether a folder below a root is a mount point at this moment: its device is another than its parent's, or the system
 * lists it. What this can't tell: a folder that was moved together with its mount (at its old place it is gone).
 */
export function isMount(disk: Disk, root: string, path: string): boolean {
  const at = `${root}/${path}`
  try {
    const { kind, dev } = disk.lstat(at)
    if (kind !== 'folder') return false
    return disk.lstat(dirname(at)).dev !== dev || disk.mountPoints(root).has(path)
  } catch {
    return false
  }
}

/** The looks at a root's folders, with the mounts that only the system's list tells. */
export function noticingMounts(look: LookAtFolders, disk: Disk, root: string): LookAtFolders {
  return async batch => {
    const results = await look(batch)
    if (results.every(({ kind }) => kind === 'same')) return results
    const mounts = disk.mountPoints(root)
    return results.map(result =>
      result.kind === 'different' && mounts.has(result.path)
        ? { ...result, look: { ...result.look, mount: true } }
        : result,
    )
  }
}
