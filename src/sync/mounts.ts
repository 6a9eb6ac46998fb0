import { dirname } from 'node:path/posix'
import type { Disk } from '../local/disk.ts'

/**
 * Whether a folder below a root is a mount point at this moment: its device is another than its parent's. What this
 * can't tell: a folder that was moved together with its mount (at its old place it is gone), and a bind mount of the
 * same device, which was never taken for one.
 */
export function isMount(disk: Disk, root: string, path: string): boolean {
  const at = `${root}/${path}`
  try {
    const { kind, dev } = disk.lstat(at)
    return kind === 'folder' && disk.lstat(dirname(at)).dev !== dev
  } catch {
    return false
  }
}
