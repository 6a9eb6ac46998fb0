import { fchmodSync, fchownSync, fstatSync, type Stats } from 'node:fs'

/** Gives what was just made no wider rights than these have. Root also gives it their owner, where that is one and the same.
 * It takes a descriptor, because another user may put a link at the path at any moment. */
export function takeRights(fd: number, like: readonly Stats[]): void {
  const made = fstatSync(fd)
  const mode = like.reduce((bits, each) => bits & (each.mode | ~0o777), made.mode)
  try {
    if (mode !== made.mode) fchmodSync(fd, mode & 0o7777)
    const [first] = like
    if (process.geteuid?.() !== 0 || !first) return
    if (like.every(({ uid, gid }) => uid === first.uid && gid === first.gid))
      fchownSync(fd, first.uid, first.gid)
  } catch (error) {
    // A file system without rights takes those of its mount.
    if (!REFUSED.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

const REFUSED: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])
