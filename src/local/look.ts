import type { DiskStat } from './disk.ts'

/**
 * Microseconds within which two edits may get one and the same timestamp. FAT's two seconds are the coarsest; the
 * rest is for a kernel that stamps with its last tick.
 */
export const STAMP_GRAIN = 2_100_000

/** What is left out of a folder, counted where people look. */
export interface LeftOut {
  /** Not one of §4.3's formats. */
  format: number
  ignored: number
  hidden: number
  empty: number
  /** Symbolic links and special files. */
  links: number
}

/** A picture as lstat shows it. */
export type FileLook = Pick<DiskStat, 'size' | 'mtime' | 'ctime' | 'ino'> & { name: string }

/** One path that is not as it should be; the rest of the folder is fine. */
export interface LookProblem {
  /** The name with bytes that are not UTF-8 written as \xNN. */
  name: string
  code: 'NAME_NOT_UTF8' | 'UNREADABLE'
  message: string
}

/** A folder's ignore file as the folder's look found it: its text, none, or why it can't be read. */
export type IgnoreFile = { text: string | null } | { unreadable: string }

/** What a folder holds. */
export interface FolderLook {
  files: FileLook[]
  /** Names of the folders directly below, hidden and ignored ones left out. */
  folders: string[]
  /** Names, of folders and of pictures, that are there and left out: ignored, empty, a link or a special file. */
  aside: string[]
  /** Those of `aside` that a rule hides. */
  ignored: string[]
  leftOut: LeftOut
  problems: LookProblem[]
  ignoreFile: IgnoreFile
  identity: Pick<DiskStat, 'dev' | 'ino' | 'birthtime'>
  /**
   * Its device is another than its parent's, so a subvolume of btrfs is one too; or the system lists it as one. The
   * relation counts, for device numbers change over reboots. Never of the root, which has its own guard.
   */
  mount: boolean
}

/** One folder to look at. */
export interface FolderToLookAt {
  /** Below the root, with slashes; '' is the root itself. */
  path: string
  /** The ignore files above and of the config, outermost first. */
  rules: readonly IgnoreRules[]
  /** The digest of the last look, or null: then the look always comes back. */
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
   * The digest is null where a file was stamped so shortly before the look that a second edit could bear the same
   * stamp: then nothing but another look can tell. Such a file's bytes are known only when they were read at least
   * `STAMP_GRAIN` after its ctime.
   */
  | { path: string; kind: 'different'; digest: string | null; look: FolderLook }
  /** The folder itself could not be read, or (code CHANGED) was replaced meanwhile: it is unknown, not empty. */
  | { path: string; kind: 'unknown'; code: string; message: string }
