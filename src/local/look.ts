import { hash } from 'node:crypto'
import { dirname } from 'node:path/posix'
import { isPictureName } from '../protocol/formats.ts'
import { because, type Reason } from '../words/reasons.ts'
import {
  type Disk,
  type DiskEntry,
  type DiskStat,
  type FileStamp,
  type Identity,
  STAMP_GRAIN,
} from './disk.ts'
import {
  type CompiledRules,
  compileRules,
  IGNORE_FILE,
  type IgnoreRules,
  ignoreTextIn,
} from './ignore-rules.ts'

/** The folder that a restore makes in the folder that it fills, and removes at its end. */
export const RESTORE_FOLDER = '.albumd-restore'

/** How many entries of a folder are left out, for each reason. */
export interface LeftOut {
  /** Files of a format that §4.3 does not list. */
  format: number
  ignored: number
  hidden: number
  empty: number
  /** Symbolic links and special files. */
  links: number
}

/** What lstat shows of a picture's file. */
export interface FileLook extends FileStamp {
  name: string
}

export function isSameLook(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtime === b.mtime && a.ctime === b.ctime && a.ino === b.ino
}

/** An entry of a folder that can't be mirrored. The other entries of the folder are mirrored all the same. */
export interface LookProblem {
  /** The entry's name. A byte that is not UTF-8 is written as \xNN. */
  name: string
  code: 'NAME_NOT_UTF8' | 'UNREADABLE'
  message: Reason
}

/** A folder's ignore file: its text (null when there is no such file), or why the file can't be read. */
export type IgnoreFile = { text: string | null } | { unreadable: { code: string; message: string } }

/** What is mirrored of a folder's entries, and what is not. */
export interface FolderContent {
  files: FileLook[]
  /** Names of folders and pictures that are left out: ignored, empty, a link or a special file. */
  aside: string[]
  /** The names of `aside` that an ignore rule hides. */
  ignored: string[]
  problems: LookProblem[]
}

/** What a folder holds. */
export interface FolderLook extends FolderContent {
  /** Names of the folders directly below that are mirrored. */
  folders: string[]
  leftOut: LeftOut
  ignoreFile: IgnoreFile
  identity: Identity
  /** Whether the folder is a mount point: its parent has another device, or the system lists it. Always false for the root. */
  mount: boolean
}

export interface FolderToLookAt {
  /** The folder's path below the root, with slashes; '' is the root itself. */
  path: string
  /** The rules of the config and of the ignore files above the folder, the config's first. */
  rules: readonly IgnoreRules[]
  /** Whether HEICs are pictures here, by their names. */
  converts?: boolean | undefined
  /** The digest of the last look. While it stays the same, the result is only that. Null: the whole look is wanted. */
  digest: string | null
}

export type FolderResult =
  | { path: string; kind: 'same' }
  /** The digest is null when a file was just changed, because for `STAMP_GRAIN` a second edit could get the same timestamp. */
  | { path: string; kind: 'different'; digest: string | null; look: FolderLook }
  /** The folder could not be read, or it was replaced during the look (code CHANGED). So nobody knows what it holds. */
  | { path: string; kind: 'unknown'; code: string; message: string }

/** Looks at one folder. An error of the disk is part of the result. An error that is thrown is a bug. */
export function lookAtFolder(disk: Disk, root: string, folder: FolderToLookAt): FolderResult {
  const path = folder.path === '' ? root : `${root}/${folder.path}`
  try {
    for (let listing = 1; ; listing++) {
      const result = listed(disk, path, folder, listing === LISTINGS)
      // Lists again: while a folder is emptied, pictures that were looked at first may have vanished too.
      if (result) return result
    }
  } catch (error) {
    const { code, message } = asDiskError(error)
    return { path: folder.path, kind: 'unknown', code, message }
  }
}

/** The rules for the entries of a folder: the rules of the folders above, followed by the folder's own. */
export function rulesWithin(
  folder: Pick<FolderToLookAt, 'path' | 'rules'>,
  ignoreFile: IgnoreFile,
): readonly IgnoreRules[] {
  if ('unreadable' in ignoreFile || ignoreFile.text === null) return folder.rules
  return [...folder.rules, { base: folder.path, text: ignoreFile.text }]
}

/** How often a folder is listed at most, when pictures vanish between the listing and the look at them. */
const LISTINGS = 3

const REPLACED = 'The folder was replaced while it was being looked at.'

/** Null: an entry vanished before it was looked at. With `isLast`, the result just lacks it. */
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
    mount,
  }
  const prefix = folder.path === '' ? '' : `${folder.path}/`
  for (const entry of entries)
    if (!enter(look, disk, path, entry, prefix, rules, folder.converts) && !isLast) return null

  // When the folder was moved away or unmounted during the look, its files can't be seen, but nobody has deleted them.
  const after = disk.lstat(path)
  if (!isSameIdentity(identity, after))
    return { path: folder.path, kind: 'unknown', code: 'CHANGED', message: REPLACED }
  const digest = digestOf(look, rules.fingerprint)
  if (digest === folder.digest) return { path: folder.path, kind: 'same' }
  const fresh = look.files.some(isStampedWithin(began - STAMP_GRAIN, disk.now() + STAMP_GRAIN))
  return { path: folder.path, kind: 'different', digest: fresh ? null : digest, look }
}

/** Enters an entry where it belongs in `look`. False: it has vanished since the folder was listed. */
function enter(
  look: FolderLook,
  disk: Disk,
  path: string,
  { name, kind, validUtf8 }: DiskEntry,
  prefix: string,
  rules: CompiledRules,
  converts = false,
): boolean {
  if (name.startsWith('.')) {
    if (name !== IGNORE_FILE) look.leftOut.hidden++
  } else if (kind === 'link' || kind === 'special') {
    look.leftOut.links++
    if (validUtf8) look.aside.push(name)
  } else if (rules.hides(prefix + name, kind)) {
    look.leftOut.ignored++
    if (validUtf8 && mayBeRecorded(name, kind)) {
      look.aside.push(name)
      look.ignored.push(name)
    }
  } else if (kind === 'file' && !isPictureName(name, converts)) {
    look.leftOut.format++
    // The image of a HEIC stays that was sent when such were.
    if (validUtf8 && mayBeRecorded(name, kind)) look.aside.push(name)
  } else if (!validUtf8)
    look.problems.push({ name, code: 'NAME_NOT_UTF8', message: because('name_not_utf8') })
  else if (kind === 'folder') look.folders.push(name)
  else return enterPicture(look, disk, path, name)
  return true
}

function mayBeRecorded(name: string, kind: DiskEntry['kind']): boolean {
  return kind === 'folder' || isPictureName(name)
}

function enterPicture(look: FolderLook, disk: Disk, path: string, name: string): boolean {
  try {
    const { kind, size, mtime, ctime, ino } = disk.lstat(`${path}/${name}`)
    // The listing showed a file. Until the next look the picture must not count as missing.
    if (kind !== 'file') look.aside.push(name)
    else if (size > 0) look.files.push({ name, size, mtime, ctime, ino })
    else {
      look.leftOut.empty++
      look.aside.push(name)
    }
  } catch (error) {
    const { code, message } = asDiskError(error)
    if (code === 'ENOENT') return false
    look.problems.push({
      name,
      code: 'UNREADABLE',
      message: because('not_visible', { code, words: message }),
    })
  }
  return true
}

function readIgnoreFile(disk: Disk, path: string, entries: DiskEntry[]): IgnoreFile {
  if (!entries.some(({ name }) => name === IGNORE_FILE)) return { text: null }
  try {
    return { text: ignoreTextIn(disk, path) }
  } catch (error) {
    return { unreadable: asDiskError(error) }
  }
}

function identityOf({ dev, ino, birthtime }: DiskStat): Identity {
  return { dev, ino, birthtime }
}

/** Whether two identities are of one folder. Null values: no folder was ever seen there. */
export function isSameIdentity(one: Identity, other: { [Key in keyof Identity]: number | null }): boolean {
  return one.dev === other.dev && one.ino === other.ino && one.birthtime === other.birthtime
}

/** Whether a file was changed between two times. A stamp after `to` comes from a wrong clock, and the next edit changes it. */
function isStampedWithin(from: number, to: number): (file: FileStamp) => boolean {
  return ({ mtime, ctime }) => (ctime > from && ctime < to) || (mtime > from && mtime < to)
}

function byName(one: DiskEntry, other: DiskEntry): number {
  if (one.name === other.name) return 0
  return one.name < other.name ? -1 : 1
}

/** Code and message of a disk error. Throws errors without a code or with Node's own (ERR_…), which are bugs. */
function asDiskError(error: unknown): { code: string; message: string } {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error
  return { code, message }
}

/** The bytes of a digest. Two of 16 bytes are never equal by chance, and they take half the room of a whole SHA-256. */
const BYTES = 16

/** A digest of a look and its rules. The device is left out, because it may change at a boot. The look's lists must be sorted. */
export function digestOf(look: FolderLook, rules: string): string {
  const { files, identity, ...rest } = look
  const { names, numbers } = packed(files)
  // The JSON text is followed by the numbers in binary, because numbers as text would take longer than the hash.
  const text = JSON.stringify([rules, identity.ino, identity.birthtime, rest, names])
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from(numbers.buffer)])
  return hash('sha256', bytes, 'buffer').toString('base64', 0, BYTES)
}

/** Files as a thread sends them to another. Sending an object for each file takes six times as long. */
export interface PackedFiles {
  names: string[]
  /** Four for each file. */
  numbers: Float64Array<ArrayBuffer>
}

export function packed(files: readonly FileLook[]): PackedFiles {
  const numbers = new Float64Array(files.length * 4)
  let at = 0
  for (const file of files) {
    numbers[at++] = file.size
    numbers[at++] = file.mtime
    numbers[at++] = file.ctime
    numbers[at++] = file.ino
  }
  return { names: files.map(file => file.name), numbers }
}

export function unpacked({ names, numbers }: PackedFiles): FileLook[] {
  return names.map((name, index) => {
    const at = index * 4
    return {
      name,
      size: numbers[at]!,
      mtime: numbers[at + 1]!,
      ctime: numbers[at + 2]!,
      ino: numbers[at + 3]!,
    }
  })
}
