/**
 * The disk as the scanner sees it. Synchronous, because synchronous calls in workers cost a third of fs.promises.
 * Paths are absolute. Calls throw Node's errors, with `code` (ENOENT, EACCES, EIO …).
 */
export interface Disk {
  /** The entries of a folder in any order. Throws ENOTDIR for a symbolic link. */
  readFolder(path: string): DiskEntry[]
  /** Does not follow a symbolic link. */
  lstat(path: string): DiskStat
  /** A small text file (an ignore file), at most 1 MiB. Throws EFBIG beyond, ELOOP for a symbolic link. */
  readText(path: string): string
  /**
   * The folders below this one that the system lists as mount points, as paths below it: a bind mount of the same
   * device is told by nothing else. Empty where the system keeps no such list.
   */
  mountPoints(folder: string): ReadonlySet<string>
  /** Whether what lies in this folder is stamped by the clock of another machine, which may be wrong. */
  isRemote(folder: string): boolean
  /** The clock that stamps files, in microseconds since 1970. */
  now(): number
}

export interface DiskEntry {
  /** Bytes that are not UTF-8 stand as \xNN; `validUtf8` tells them from a name that is spelled so. */
  name: string
  validUtf8: boolean
  kind: 'file' | 'folder' | 'link' | 'special'
}

/** Times are microseconds since 1970 (doubles hold them exactly, nanoseconds they would not). */
export interface DiskStat {
  kind: DiskEntry['kind']
  size: number
  mtime: number
  ctime: number
  /** 0 where the file system has none. */
  birthtime: number
  dev: number
  ino: number
}
