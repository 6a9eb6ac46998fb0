import type { Disk } from '../../local/disk.ts'
import type { Synced } from '../../synced/synced.ts'
import type { MirrorRow, RootIdentity } from '../../synced/tables/mirrors.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { isAtOrBelow, pathOf } from '../tree-path.ts'

/**
 * Whether a mirror's root is the one that was scanned before. `accepted`: a person said that what it holds now is the
 * truth. `found`: what could be seen of a root that is not trusted; only then can a person trust it.
 */
export type RootCheck =
  | { trusted: true; identity: RootIdentity; empty: boolean; accepted: boolean }
  | { trusted: false; reason: Reason; found: { identity: RootIdentity; empty: boolean } | null }

interface KnownFile {
  /** Below the root. */
  path: string
  size: number
  mtime: number
}

/** How many known files are looked for where the root's identity differs. */
const SAMPLE = 200

/**
 * Looks at the root before anything is concluded from what it holds. Device numbers change over reboots and a restore
 * makes new inodes: where most of the known files are there by name, size and time, it is the same root all the same.
 */
export function checkRoot(disk: Disk, synced: Synced, mirror: MirrorRow): RootCheck {
  const { folder } = mirror
  const doubt = (reason: Reason): RootCheck => ({ trusted: false, reason, found: null })
  let identity: RootIdentity
  let empty: boolean
  try {
    const stat = disk.lstat(folder)
    if (stat.kind !== 'folder') return doubt(because('root_not_a_folder', { folder }))
    identity = { dev: stat.dev, ino: stat.ino, birthtime: stat.birthtime }
    empty = disk.readFolder(folder).every(entry => entry.name.startsWith('.') || entry.name === 'lost+found')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? doubt(because('root_missing', { folder }))
      : doubt(because('root_unreadable', { folder, code: String(code) }))
  }
  const found = { identity, empty }
  const isIt = isSame(identity, mirror)
  const accepted = isIt && mirror.accept === 1
  const trusted: RootCheck = { trusted: true, ...found, accepted }
  if (accepted || (isIt && empty && mirror.accept === 2)) return trusted
  if (isIt && !empty && identity.birthtime !== 0) return trusted
  const known = sample(synced, mirror.id)
  // Two disks without birth times that are mounted at one place by turns have the same identity, so the files decide.
  if (isIt && !empty && (known.length === 0 || known.some(file => isAsKnown(disk, folder, file))))
    return trusted
  if (known.length === 0 && (isIt || !synced.files.anyOfMirror(mirror.id))) return trusted
  if (empty && known.length > 0) return { trusted: false, reason: because('root_empty', { folder }), found }
  if (mostAreThere(disk, folder, known)) return trusted
  return { trusted: false, reason: because('root_other', { folder }), found }
}

/** Whether the root is still the very one that was checked. */
export function isSameRoot(disk: Disk, folder: string, identity: RootIdentity): boolean {
  try {
    const { kind, dev, ino, birthtime } = disk.lstat(folder)
    return kind === 'folder' && isSame(identity, { dev, ino, birthtime })
  } catch {
    return false
  }
}

function isSame(
  a: RootIdentity,
  b: { dev: number | null; ino: number | null; birthtime: number | null },
): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.birthtime === b.birthtime
}

/** Some of the known files, from folders all over the tree at and below `top`. */
function sample(synced: Synced, mirror: number, top = ''): KnownFile[] {
  const folders = synced.folders.withFiles(mirror).filter(({ path }) => isAtOrBelow(path, top))
  const step = Math.max(1, Math.floor(folders.length / SAMPLE))
  const chosen = folders.filter((_, at) => at % step === 0)
  const each = Math.ceil(SAMPLE / Math.max(1, chosen.length))
  return chosen.flatMap(folder =>
    synced.files
      .someOf(folder.id, each)
      .map(({ name, size, mtime }) => ({ path: pathOf(folder.path, name), size, mtime })),
  )
}

/** Whether most of the known files at and below a folder are there by name, size and time; so where none are known. */
export function mostKnownAreThere(
  disk: Disk,
  synced: Synced,
  { id, folder }: MirrorRow,
  path: string,
): boolean {
  const known = sample(synced, id, path)
  return known.length === 0 || mostAreThere(disk, folder, known)
}

function mostAreThere(disk: Disk, root: string, known: readonly KnownFile[]): boolean {
  return known.filter(file => isAsKnown(disk, root, file)).length * 2 > known.length
}

function isAsKnown(disk: Disk, root: string, { path, size, mtime }: KnownFile): boolean {
  try {
    const stat = disk.lstat(`${root}/${path}`)
    return stat.kind === 'file' && stat.size === size && stat.mtime === mtime
  } catch {
    return false
  }
}

/** Whether something is at a picture's path, or could be. */
export function isThere(disk: Disk, path: string): boolean {
  return whetherThere(disk, path) !== 'no'
}

export function whetherThere(disk: Disk, path: string): 'yes' | 'no' | 'unknown' {
  try {
    // A folder in its place means that the picture is gone. A link or an empty file may be the picture, left out for now.
    return disk.lstat(path).kind === 'folder' ? 'no' : 'yes'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'no' : 'unknown'
  }
}
