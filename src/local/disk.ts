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
   * The mount points below a folder that the system lists, as paths below the folder. Only this list shows a bind mount of
   * the same device. Empty when the system keeps no such list.
   */
  mountPoints(folder: string): ReadonlySet<string>
  /** Whether the files in this folder get their timestamps from another machine, whose clock may be wrong. */
  isRemote(folder: string): boolean
  /** The time of the clock that stamps files, in microseconds since 1970. */
  now(): number
}

export interface DiskEntry {
  /** A byte that is not UTF-8 is written as \xNN. `validUtf8` tells such a name from a name that is spelled so. */
  name: string
  validUtf8: boolean
  kind: 'file' | 'folder' | 'link' | 'special'
}

/** Times are microseconds since 1970. A double holds microseconds exactly, but not nanoseconds. */
export interface DiskStat {
  kind: DiskEntry['kind']
  size: number
  mtime: number
  ctime: number
  /** 0 when the file system records none. */
  birthtime: number
  dev: number
  ino: number
}
