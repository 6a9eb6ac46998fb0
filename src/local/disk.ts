import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
} from 'node:fs'
import { systemClock } from '../protocol/clock.ts'
import { isRemote, type Mount, mountsOf, readMounts } from './mount-table.ts'

/** The disk as the scanner sees it. The calls are synchronous, because in worker threads a synchronous call costs a third of
 * one of fs.promises. Paths are absolute. Calls throw Node's errors, with `code` (ENOENT, EACCES, EIO …). */
export interface Disk {
  /** The entries of a folder in any order. Throws ENOTDIR for a symbolic link. */
  readFolder(path: string): DiskEntry[]
  /** What lies at this path. For a symbolic link, the link itself and not what it leads to. */
  lstat(path: string): DiskStat
  /** A small text file (an ignore file), of at most 1 MiB. Throws EFBIG for a larger file, ELOOP for a symbolic link. */
  readText(path: string): string
  /** The mount points below a folder, by the system's list, which alone shows a bind mount of the same device. */
  mountPoints(folder: string): ReadonlySet<string>
  /** Whether the files in this folder get their timestamps from another machine, whose clock may be wrong. */
  isRemote(folder: string): boolean
  /** The time by which the kernel stamps changed files, in microseconds since 1970. */
  now(): number
}

export interface DiskEntry {
  /** The name. A byte that is not UTF-8 is written as \xNN. Where somebody typed such characters, `validUtf8` is true. */
  name: string
  validUtf8: boolean
  kind: 'file' | 'folder' | 'link' | 'special'
}

/** What changes when a file is written or replaced. Times are in microseconds, which a JavaScript number counts exactly. */
export interface FileStamp {
  size: number
  mtime: number
  ctime: number
  ino: number
}

/** What distinguishes a folder from another one at the same path. */
export interface Identity {
  dev: number
  ino: number
  /** 0 when the file system does not record when a file was made. */
  birthtime: number
}

export interface DiskStat extends FileStamp, Identity {
  kind: DiskEntry['kind']
}

/** When two edits come within so many microseconds, they may get the same timestamp. FAT has the coarsest timestamps, of two
 * seconds. Another 0.1 seconds are added, because a kernel may stamp a file with the time of its last timer tick. */
export const STAMP_GRAIN = 2_100_000

/** Like `STAMP_GRAIN`, for finer timestamps: five times the longest tick of a kernel's timer. */
const TICK_GRAIN = 50_000

/** Whether a file system stamps in whole seconds, as this timestamp shows. */
export function isCoarse(stamp: number): boolean {
  return stamp % 1_000_000 === 0
}

/** By how many microseconds a timestamp of this file system may be earlier than its change. */
function grainOf(stamp: number): number {
  return isCoarse(stamp) ? STAMP_GRAIN : TICK_GRAIN
}

/** Whether a file read at `readAt` may have been edited since without a change of `stamp`. Both in microseconds. */
export function mayHideEdit(stamp: number, readAt: number): boolean {
  return readAt < stamp + grainOf(stamp)
}

/** The most bytes that `readText` reads. */
const TEXT_MAX = 2 ** 20

/** Node puts this character in the place of bytes that are not UTF-8. But a valid name may also contain this character. */
const REPLACEMENT = '\u{FFFD}'

/** For how many milliseconds the list of mounts is kept. `isRemote` is asked for each picture that was just written, and reading
 * the list takes long on machines with containers. */
const REMEMBERED_MS = 1000
let mounts: readonly Mount[] = []
let mountsReadAt = Number.NEGATIVE_INFINITY
const remote = new Map<string, boolean>()

export const realDisk: Disk = {
  readFolder(path) {
    // readdir would follow a symbolic link. What lies behind a link is not mirrored, so the link is refused.
    if (!lstatSync(path).isDirectory()) throw diskError('ENOTDIR', 'not a folder', path)
    const entries = readdirSync(path, { withFileTypes: true })
    if (entries.some(entry => entry.name.includes(REPLACEMENT))) return readFolderByBytes(path)
    return entries.map(entry => ({ name: entry.name, validUtf8: true, kind: kindOf(entry) }))
  },

  lstat: path => statOf(lstatSync(path)),

  readText(path) {
    // The path may be a named pipe's. Without O_NONBLOCK, opening a named pipe would wait for a writer without end.
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!fstatSync(file).isFile()) throw diskError('EINVAL', 'not a regular file', path)
      return readWhole(file, path)
    } finally {
      closeSync(file)
    }
  },

  mountPoints(folder) {
    const below = mountsOf(readMounts(), folder).filter(({ path }) => path.startsWith(`${folder}/`))
    return new Set(below.map(({ path }) => path.slice(folder.length + 1)))
  },

  isRemote(folder) {
    if (performance.now() - mountsReadAt > REMEMBERED_MS) {
      mounts = readMounts()
      mountsReadAt = performance.now()
      remote.clear()
    }
    const known = remote.get(folder) ?? mountsOf(mounts, folder).slice(0, 1).some(isRemote)
    remote.set(folder, known)
    return known
  },

  now: () => microseconds(systemClock.wall()),
}

function readFolderByBytes(path: string): DiskEntry[] {
  const entries = readdirSync(path, { withFileTypes: true, encoding: 'buffer' })
  return entries.map(entry => ({
    name: escaped(entry.name),
    validUtf8: isUtf8(entry.name),
    kind: kindOf(entry),
  }))
}

/** These bytes as text. A byte that is not UTF-8 is written as \xNN. */
function escaped(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find(n => at + n <= bytes.length && isUtf8(bytes.subarray(at, at + n)))
    text += length ? bytes.toString('utf8', at, at + length) : `\\x${bytes.toString('hex', at, at + 1)}`
    at += length ?? 1
  }
  return text
}

function readWhole(file: number, path: string): string {
  const bytes = Buffer.allocUnsafe(Math.min(fstatSync(file).size, TEXT_MAX) + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = readSync(file, bytes, length, bytes.length - length, null)
  if (length > TEXT_MAX) throw diskError('EFBIG', 'larger than 1 MiB', path)
  const text = bytes.subarray(0, length)
  // Rules in another encoding would be misread, and pictures that they hide be uploaded. A zero byte shows UTF-16.
  if (!isUtf8(text) || text.includes(0)) throw diskError('EILSEQ', 'not UTF-8 text', path)
  return text.toString()
}

function kindOf(entry: Stats | Dirent | Dirent<Buffer>): DiskEntry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'special'
}

export function statOf(stats: Stats): DiskStat {
  return {
    kind: kindOf(stats),
    size: stats.size,
    mtime: microseconds(stats.mtimeMs),
    ctime: microseconds(stats.ctimeMs),
    birthtime: microseconds(stats.birthtimeMs),
    dev: stats.dev,
    // Keeps the lower 53 bits of an inode number, which a JavaScript number holds exactly.
    ino: Number.isSafeInteger(stats.ino) ? stats.ino : stats.ino % 2 ** 53,
  }
}

/** Milliseconds as whole microseconds, as SQLite takes them: a time too far from 1970 becomes the largest exact integer. */
function microseconds(ms: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(ms * 1000)))
}

function diskError(code: string, reason: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${reason}, '${path}'`), { code })
}
