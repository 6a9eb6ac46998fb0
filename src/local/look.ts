import { createHash } from 'node:crypto'
import type { Reason } from '../words/reasons.ts'
import type { DiskStat } from './disk.ts'

/**
 * Microseconds within which two edits may get the same timestamp. FAT's timestamps are the coarsest, with two seconds. The
 * rest is for a kernel that stamps with the time of its last tick.
 */
export const STAMP_GRAIN = 2_100_000

/** How many entries of a folder are left out, by the reason. */
export interface LeftOut {
  /** Files of a format that §4.3 does not list. */
  format: number
  ignored: number
  hidden: number
  empty: number
  /** Symbolic links and special files. */
  links: number
}

/** A picture as lstat shows it. */
export type FileLook = Pick<DiskStat, 'size' | 'mtime' | 'ctime' | 'ino'> & { name: string }

/** One entry of a folder that can't be mirrored. It says nothing about the folder's other entries. */
export interface LookProblem {
  /** The name. A byte that is not UTF-8 is written as \xNN. */
  name: string
  code: 'NAME_NOT_UTF8' | 'UNREADABLE'
  message: Reason
}

/** A folder's ignore file: its text, null when there is none, or why it can't be read. */
export type IgnoreFile = { text: string | null } | { unreadable: string }

/** What a folder holds. */
export interface FolderLook {
  files: FileLook[]
  /** Names of the folders directly below that are mirrored. */
  folders: string[]
  /** Names of folders and pictures that are left out: ignored, empty, a link or a special file. */
  aside: string[]
  /** The names of `aside` that an ignore rule hides. */
  ignored: string[]
  leftOut: LeftOut
  problems: LookProblem[]
  ignoreFile: IgnoreFile
  identity: Pick<DiskStat, 'dev' | 'ino' | 'birthtime'>
  /**
   * Whether the folder is a mount point: its device differs from its parent's (a subvolume of btrfs counts too), or the
   * system lists it as one. Device numbers alone tell nothing, because they change over reboots. Always false for the root.
   */
  mount: boolean
}

/** One folder to look at. */
export interface FolderToLookAt {
  /** Below the root, with slashes; '' is the root itself. */
  path: string
  /** The ignore files above and of the config, outermost first. */
  rules: readonly IgnoreRules[]
  /** The digest of the last look. When nothing has changed, the look is not sent back. Null: the look is always sent back. */
  digest: string | null
}

/** gitignore rules and the folder that they are relative to. */
export interface IgnoreRules {
  base: string
  text: string
}

export type FolderResult =
  | { path: string; kind: 'same' }
  /**
   * The digest is null when a file was changed shortly before the look, because a second edit could get the same timestamp
   * and would go unnoticed. The bytes of such a file are known only when they were read at least `STAMP_GRAIN` after its ctime.
   */
  | { path: string; kind: 'different'; digest: string | null; look: FolderLook }
  /** The folder could not be read, or (code CHANGED) was replaced during the look. Then its content is unknown. */
  | { path: string; kind: 'unknown'; code: string; message: string }

/** Bytes of a digest. 16 bytes never clash by chance, and need half the room of a whole SHA-256. */
const BYTES = 16

/**
 * A digest that is equal for equal looks under equal rules, and for no others. The device number is left out, because a
 * reboot may change it. The look's lists must be in order.
 */
export function digestOf(look: FolderLook, rules: string): string {
  const { files, identity, ...rest } = look
  // JSON marks its own end, so the numbers after it can't be taken for a part of it. Numbers as text would cost more time
  // than the hash.
  const text = JSON.stringify([rules, identity.ino, identity.birthtime, rest, files.map(file => file.name)])
  const numbers = new Float64Array(files.length * 4)
  let at = 0
  for (const file of files) {
    numbers[at++] = file.size
    numbers[at++] = file.mtime
    numbers[at++] = file.ctime
    numbers[at++] = file.ino
  }
  return createHash('sha256').update(text).update(numbers).digest().toString('base64', 0, BYTES)
}
