import { createHash } from 'node:crypto'
import { dirname } from 'node:path/posix'
import { isDeepStrictEqual } from 'node:util'
import { formatOfName } from '../protocol/formats.ts'
import { because, type Reason } from '../words/reasons.ts'
import { type Disk, type DiskEntry, type DiskStat, STAMP_GRAIN } from './disk.ts'
import { type CompiledRules, compileRules, IGNORE_FILE, type IgnoreRules } from './ignore-rules.ts'

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

export function isSameLook(a: Omit<FileLook, 'name'>, b: Omit<FileLook, 'name'>): boolean {
  return a.size === b.size && a.mtime === b.mtime && a.ctime === b.ctime && a.ino === b.ino
}

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
  /** The folder's mtime after its entries were listed: when an entry last came or went. No part of the digest. */
  changedAt: number
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
  /** The digest of the last look. A look with the same digest is not sent back. Null: the look is always sent back. */
  digest: string | null
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

/**
 * Looks at one folder below `root` and says whether it differs from its last look. Pictures are those of §4.3, by name.
 * What the disk refuses is part of the answer. Every error that is thrown is a bug.
 */
export function lookAtFolder(disk: Disk, root: string, folder: FolderToLookAt): FolderResult {
  const path = folder.path === '' ? root : `${root}/${folder.path}`
  try {
    for (let listing = 1; ; listing++) {
      const result = listed(disk, path, folder, listing === LISTINGS)
      // The pictures that were looked at first may be gone, too. Example: while a folder is emptied, the first pictures
      // would seem to be still there.
      if (result) return result
    }
  } catch (error) {
    const { code, message } = asDiskError(error)
    return { path: folder.path, kind: 'unknown', code, message }
  }
}

/** The rules for what lies in a folder: those of the folders above, then its own. */
export function rulesWithin(
  folder: Pick<FolderToLookAt, 'path' | 'rules'>,
  ignoreFile: IgnoreFile,
): readonly IgnoreRules[] {
  if ('unreadable' in ignoreFile || ignoreFile.text === null) return folder.rules
  return [...folder.rules, { base: folder.path, text: ignoreFile.text }]
}

/** How often a folder is listed when pictures vanish between the listing and the look at them. */
const LISTINGS = 3

const REPLACED = 'The folder was replaced while it was being looked at.'

/**
 * One listing of the folder. Null when an entry of it vanished before it was looked at, so that the folder should be listed
 * again. The last listing is taken as it is, without the entries that vanished.
 */
function listed(disk: Disk, path: string, folder: FolderToLookAt, isLast: boolean): FolderResult | null {
  const began = disk.now()
  const identity = identityOf(disk.lstat(path))
  const mount = folder.path !== '' && disk.lstat(dirname(path)).dev !== identity.dev
  const entries = disk.readFolder(path).sort(byName)
  const ignoreFile = readIgnoreFile(disk, path, entries)
  const rules = compileRules(rulesWithin(folder, ignoreFile))
  const look: FolderLook = {
    files: [],
    folders: [],
    aside: [],
    ignored: [],
    leftOut: { format: 0, ignored: 0, hidden: 0, empty: 0, links: 0 },
    problems: [],
    ignoreFile,
    identity,
    changedAt: 0,
    mount,
  }
  const prefix = folder.path === '' ? '' : `${folder.path}/`
  for (const entry of entries) if (!enter(look, disk, path, entry, prefix, rules) && !isLast) return null

  // When the folder was moved away or unmounted meanwhile, its files are not deleted, only out of sight.
  const after = disk.lstat(path)
  if (!isDeepStrictEqual(identity, identityOf(after)))
    return { path: folder.path, kind: 'unknown', code: 'CHANGED', message: REPLACED }
  look.changedAt = after.mtime
  const digest = digestOf(look, rules.fingerprint)
  if (digest === folder.digest) return { path: folder.path, kind: 'same' }
  const fresh = look.files.some(isStampedWithin(began - STAMP_GRAIN, disk.now() + STAMP_GRAIN))
  return { path: folder.path, kind: 'different', digest: fresh ? null : digest, look }
}

/** Enters an entry where it belongs. False: the entry has vanished since it was listed. */
function enter(
  look: FolderLook,
  disk: Disk,
  path: string,
  { name, kind, validUtf8 }: DiskEntry,
  prefix: string,
  rules: CompiledRules,
): boolean {
  if (name.startsWith('.')) {
    if (name !== IGNORE_FILE) look.leftOut.hidden++
  } else if (kind === 'link' || kind === 'special') {
    look.leftOut.links++
    if (validUtf8) look.aside.push(name)
  } else if (rules.hides(prefix + name, kind)) {
    look.leftOut.ignored++
    if (validUtf8 && (kind === 'folder' || formatOfName(name))) {
      look.aside.push(name)
      look.ignored.push(name)
    }
  } else if (kind === 'file' && formatOfName(name) === null) look.leftOut.format++
  else if (!validUtf8) look.problems.push({ name, code: 'NAME_NOT_UTF8', message: because('name_not_utf8') })
  else if (kind === 'folder') look.folders.push(name)
  else return enterPicture(look, disk, path, name)
  return true
}

function enterPicture(look: FolderLook, disk: Disk, path: string, name: string): boolean {
  try {
    const { kind, size, mtime, ctime, ino } = disk.lstat(`${path}/${name}`)
    // Something else has the picture's name now. The next look sees what it is. Until then the picture does not count
    // as missing.
    if (kind !== 'file') look.aside.push(name)
    else if (size > 0) look.files.push({ name, size, mtime, ctime, ino })
    else {
      look.leftOut.empty++
      look.aside.push(name)
    }
  } catch (error) {
    const { code, message } = asDiskError(error)
    if (code === 'ENOENT') return false
    look.problems.push({ name, code: 'UNREADABLE', message: because('entry_unreadable', { words: message }) })
  }
  return true
}

function readIgnoreFile(disk: Disk, path: string, entries: DiskEntry[]): IgnoreFile {
  if (!entries.some(({ name }) => name === IGNORE_FILE)) return { text: null }
  try {
    return { text: disk.readText(`${path}/${IGNORE_FILE}`) }
  } catch (error) {
    const { code, message } = asDiskError(error)
    return code === 'ENOENT' ? { text: null } : { unreadable: message }
  }
}

function identityOf({ dev, ino, birthtime }: DiskStat): FolderLook['identity'] {
  return { dev, ino, birthtime }
}

/**
 * Whether a file was changed between two times. Timestamps after `to` lie in the future: a wrong clock made them, and the next
 * edit gets another timestamp, so no edit can hide behind them.
 */
function isStampedWithin(from: number, to: number): (file: Pick<DiskStat, 'mtime' | 'ctime'>) => boolean {
  return ({ mtime, ctime }) => (ctime > from && ctime < to) || (mtime > from && mtime < to)
}

function byName(one: DiskEntry, other: DiskEntry): number {
  if (one.name === other.name) return 0
  return one.name < other.name ? -1 : 1
}

/** Codes like ENOENT come from the disk. Node's own codes (ERR_…) and errors without a code are bugs, and are thrown. */
function asDiskError(error: unknown): { code: string; message: string } {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error
  return { code, message }
}

/** Bytes of a digest. 16 bytes never clash by chance, and need half the room of a whole SHA-256. */
const BYTES = 16

/**
 * A digest that is equal for equal looks under equal rules, and for no others. The device number is left out, because a
 * reboot may change it. The look's lists must be in order.
 */
export function digestOf(look: FolderLook, rules: string): string {
  const { files, identity, changedAt, ...rest } = look
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
