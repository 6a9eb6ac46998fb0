import type { Disk, Identity } from '../../local/disk.ts'
import { isSameIdentity } from '../../local/look.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileAtPath, FileRow } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import { fullPath, isAtOrBelow, pathOf } from '../tree-path.ts'

/** Whether a root is the one that was scanned before, or accepted by a person. `found`: null when it could not be read. */
export type RootCheck = TrustedRoot | DoubtfulRoot

export interface DoubtfulRoot {
  trusted: false
  reason: Reason
  found: { identity: Identity; empty: boolean } | null
}

export interface TrustedRoot {
  trusted: true
  identity: Identity
  empty: boolean
  accepted: boolean
}

/** How many known files are looked for, at most, when the root's identity differs. */
const SAMPLE = 200

/** Checks the root before a scan. Device numbers change at a reboot, and a restore makes new inodes. So a root with another
 * identity is the same when most of the known files are there by name, size and time. An older copy has most of them too, so
 * where inode or birth time differ, no known file may be missing. */
export function checkRoot(disk: Disk, synced: Synced, mirror: MirrorRow): RootCheck {
  const { folder } = mirror
  const doubt = (reason: Reason): RootCheck => ({ trusted: false, reason, found: null })
  let identity: Identity
  let empty: boolean
  try {
    const stat = disk.lstat(folder)
    if (stat.kind !== 'folder') return doubt(because('root_not_a_folder', { folder }))
    identity = { dev: stat.dev, ino: stat.ino, birthtime: stat.birthtime }
    empty = disk.readFolder(folder).every(entry => entry.name.startsWith('.') || entry.name === 'lost+found')
  } catch (error) {
    if (isNowhere(error)) return doubt(because('root_missing', { folder }))
    const { code } = error as NodeJS.ErrnoException
    return doubt(because('root_unreadable', { folder, code: String(code) }))
  }
  const found = { identity, empty }
  const isIt = isSameIdentity(identity, mirror)
  const accepted = isIt && mirror.accept === 1
  const trusted: RootCheck = { trusted: true, ...found, accepted }
  if (accepted || (isIt && empty && mirror.accept === 2)) return trusted
  if (isIt && !empty && identity.birthtime !== 0) return trusted
  const known = sample(synced, mirror.id)
  // Two disks without birth times that are mounted here one after the other look alike, so the files decide.
  if (isIt && !empty && (known.length === 0 || known.some(file => isAsKnown(disk, folder, file))))
    return trusted
  if (known.length === 0 && (isIt || !synced.files.anyOfMirror(mirror.id))) return trusted
  if (empty && known.length > 0) return { trusted: false, reason: because('root_empty', { folder }), found }
  const reason = whyAnother(disk, synced, mirror, identity, known)
  return reason === null ? trusted : { trusted: false, reason, found }
}

/** Why the root of a mirror is in doubt now. Null: it is not in doubt, or no scan has seen the mirror yet. */
export function doubtOfRoot(disk: Disk, synced: Synced, folder: string): DoubtfulRoot | null {
  const mirror = synced.mirrors.of(folder)
  const root = mirror && checkRoot(disk, synced, mirror)
  return !root || root.trusted ? null : root
}

/** Why a root with another identity is not the one that was scanned before. Null: it is. */
function whyAnother(
  disk: Disk,
  synced: Synced,
  mirror: MirrorRow,
  identity: Identity,
  known: readonly FileAtPath[],
): Reason | null {
  const { folder } = mirror
  if (!mostAreThere(disk, folder, known)) return because('root_other', { folder })
  const isOlder = isRenewed(identity, mirror) && lacksAny(disk, synced, mirror, '')
  return isOlder ? because('root_older', { folder }) : null
}

/** Whether inode or birth time differ. Without birth times, many file systems number inodes anew with each mount: no. */
function isRenewed({ ino, birthtime }: Identity, mirror: MirrorRow): boolean {
  const differs = ino !== mirror.ino || birthtime !== mirror.birthtime
  return differs && (birthtime !== 0 || mirror.birthtime !== 0)
}

/** Whether the root is still the same folder that was checked. */
export function isSameRoot(disk: Disk, folder: string, identity: Identity): boolean {
  try {
    const { kind, dev, ino, birthtime } = disk.lstat(folder)
    return kind === 'folder' && isSameIdentity(identity, { dev, ino, birthtime })
  } catch {
    return false
  }
}

/** Some of the known files at and below `top`, taken from folders all over the tree. */
function sample(synced: Synced, mirror: number, top = ''): FileAtPath[] {
  const folders = synced.folders.withFiles(mirror).filter(({ path }) => isAtOrBelow(path, top))
  const step = Math.max(1, Math.floor(folders.length / SAMPLE))
  const chosen = folders.filter((_, at) => at % step === 0)
  const each = Math.ceil(SAMPLE / Math.max(1, chosen.length))
  return chosen.flatMap(folder =>
    synced.files.someOf(folder.id, each).map(file => ({ ...file, path: pathOf(folder.path, file.name) })),
  )
}

/** Whether most known files at and below a folder are there as known, and none is missing or older. True when none is known. */
export function allKnownAreThere(disk: Disk, synced: Synced, mirror: MirrorRow, path: string): boolean {
  const known = sample(synced, mirror.id, path)
  return (
    known.length === 0 || (mostAreThere(disk, mirror.folder, known) && !lacksAny(disk, synced, mirror, path))
  )
}

/** Whether a picture at or below a folder that may be on the host is missing or older. */
function lacksAny(disk: Disk, synced: Synced, { id, folder: root }: MirrorRow, top: string): boolean {
  // The newest folders come first, because an older copy lacks them.
  for (const folder of synced.folders.withFiles(id).reverse()) {
    if (!isAtOrBelow(folder.path, top)) continue
    for (const file of synced.files.ofFolder(folder.id)) {
      if (!isHeld(synced, file)) continue
      const at = fullPath(root, pathOf(folder.path, file.name))
      if (whetherThere(disk, at) === 'no' || isOlder(disk, at, file.mtime)) return true
    }
  }
  return false
}

/** Whether the file was on the disk at the last scan, and may be on the host: also when the answer to its upload was lost. If a
 * backup without the file then replaces its folder, the image that recovery finds must not be deleted. */
export function isHeld({ journal }: Synced, { folder, name, image, state }: FileRow): boolean {
  if (state === 'gone' || state === 'kept' || state === 'hidden') return false
  return image !== null || journal.openOnFile({ folder, name }).length > 0
}

function isOlder(disk: Disk, path: string, than: number): boolean {
  try {
    const { kind, size, mtime } = disk.lstat(path)
    return kind === 'file' && size > 0 && mtime < than
  } catch {
    // Not known here. The scan finds out why.
    return false
  }
}

function mostAreThere(disk: Disk, root: string, known: readonly FileAtPath[]): boolean {
  return known.filter(file => isAsKnown(disk, root, file)).length * 2 > known.length
}

/** Whether a file is at its path with the size and time that are recorded. */
export function isAsKnown(disk: Disk, root: string, { path, size, mtime }: FileAtPath): boolean {
  try {
    const stat = disk.lstat(`${root}/${path}`)
    return stat.kind === 'file' && stat.size === size && stat.mtime === mtime
  } catch {
    return false
  }
}

/** Whether something that may be the picture is at its path. */
export function whetherThere(disk: Disk, path: string): 'yes' | 'no' | 'unknown' {
  try {
    // A folder at its path shows that the picture is gone. A link or an empty file may be the picture, left out for now.
    return disk.lstat(path).kind === 'folder' ? 'no' : 'yes'
  } catch (error) {
    return isNowhere(error) ? 'no' : 'unknown'
  }
}

/** Whether nothing is at the path that was looked at. */
function isNowhere(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** The doubts that a person's trust does not end, because they end by themselves. */
const UNTRUSTED: ReadonlySet<string> = new Set(['FOLDER_UNREADABLE', 'IGNORE_FILE_UNREADABLE'])

/** What `albumd trust` would change for a folder of a mirror. */
export type Trust =
  /** The folder is not in doubt. `elsewhere`: the mirror's folders that are in doubt. */
  | { kind: 'needless'; elsewhere: string[] }
  /** A person's trust can't help, for example where the folder could not be read. */
  | { kind: 'impossible'; reason: Reason }
  | { kind: 'root'; mirror: MirrorRow; reason: Reason; identity: Identity }
  | { kind: 'folder'; mirror: MirrorRow; reason: Reason; folder: FolderRow }

/** Finds the doubt that a person's trust would end. `path`: below the mirror's root; '' is the root. */
export function trustIn(disk: Disk, synced: Synced, mirror: MirrorRow, path: string): Trust {
  const root = checkRoot(disk, synced, mirror)
  if (!root.trusted) {
    const { reason, found } = root
    if (found === null) return { kind: 'impossible', reason }
    if (path !== '') return { kind: 'needless', elsewhere: [mirror.folder] }
    return { kind: 'root', mirror, reason, identity: found.identity }
  }
  const doubts = synced.folders.unknown(mirror.id)
  const folder = doubts.find(doubt => doubt.path === path)
  if (!folder)
    return { kind: 'needless', elsewhere: doubts.map(doubt => fullPath(mirror.folder, doubt.path)) }
  const reason = folder.unknown
  if (!UNTRUSTED.has(folder.code ?? '')) return { kind: 'folder', mirror, reason, folder }
  return {
    kind: 'impossible',
    reason: because('at_path', { path: fullPath(mirror.folder, path), why: reason }),
  }
}

/** The pictures of a mirror that have an image and are not on the disk. `isMeant`: whether a path is looked at. */
export function* missingPictures(
  disk: Disk,
  synced: Synced,
  { id, folder: root }: MirrorRow,
  isMeant: (path: string) => boolean,
): Generator<FileAtPath & { image: number }> {
  // A folder that an ignore rule hides is not scanned, so its pictures are not missing.
  const absent = new Set(synced.folders.absent(id).map(({ path }) => path))
  for (const folder of synced.folders.withFiles(id)) {
    for (const file of synced.files.ofFolder(folder.id)) {
      const { name, image, state } = file
      if (image === null || state === 'kept' || (state === 'hidden' && absent.has(folder.path))) continue
      const path = pathOf(folder.path, name)
      if (isMeant(path) && whetherThere(disk, fullPath(root, path)) === 'no') yield { ...file, image, path }
    }
  }
}

/** Records a person's trust for the next scan. The trust holds only for the root that is there now. */
export function recordTrust(synced: Synced, trust: Trust & { kind: 'root' | 'folder' }): Promise<void> {
  const { id, folder } = trust.mirror
  return synced.commit(tx => {
    const path = trust.kind === 'root' ? folder : fullPath(folder, trust.folder.path)
    const reason = because('trusted', { path })
    if (trust.kind === 'root') {
      tx.mirrors.trusted({ id, ...trust.identity })
      tx.mirrors.accept(id, 1)
      tx.mirrors.guard(id, { code: 'ROOT', reason })
    } else {
      tx.folders.accept(trust.folder.id)
      tx.mirrors.guard(id, { code: 'FOLDER_UNKNOWN', reason })
    }
  })
}

/** Why a mirror's records do not fit what another folder holds now, or null. A person may trust an older copy, so it fits. */
export function whyNotMovedTo(disk: Disk, synced: Synced, mirror: MirrorRow, folder: string): Reason | null {
  const check = checkRoot(disk, synced, { ...mirror, folder })
  if (check.trusted || codeOf(check.reason) === 'root_older') return null
  if (check.found === null) return check.reason
  const known = sample(synced, mirror.id)
  const there = known.filter(file => isAsKnown(disk, folder, file)).length
  return because('root_not_moved', { folder, there, known: known.length })
}

/** Records that a mirror moved to another folder. */
export function recordMove(synced: Synced, { id, guard }: MirrorRow, folder: string): void {
  synced.commitNow(tx => {
    tx.mirrors.moved(folder, id)
    // The guard names the old folder, so it gets a new reason.
    if (guard) tx.mirrors.guard(id, { code: 'ROOT', reason: because('root_moved', { folder }) })
  })
}
