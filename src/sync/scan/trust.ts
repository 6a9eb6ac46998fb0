import type { Disk } from '../../local/disk.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { MirrorRow, RootIdentity } from '../../synced/tables/mirrors.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { fullPath, isBelow, pathOf } from '../tree-path.ts'
import { canBeTrusted } from './doubts.ts'
import { checkRoot, isThere } from './root-guard.ts'

/** What `albumd trust` would change for a folder of a mirror. */
export type Trust =
  /** `elsewhere`: the mirror's folders that are in doubt. */
  | { kind: 'needless'; elsewhere: string[] }
  /** The folder could not be read, so nothing in it can be trusted. */
  | { kind: 'impossible'; reason: Reason }
  | { kind: 'root'; mirror: MirrorRow; reason: Reason; identity: RootIdentity }
  | { kind: 'folder'; mirror: MirrorRow; reason: Reason; folder: FolderRow }

/** Looks at the doubt that a person's trust would end. `path`: below the mirror's root, '' for the root itself. */
export function trustIn(disk: Disk, synced: Synced, mirror: MirrorRow, path: string): Trust {
  const root = checkRoot(disk, synced, mirror)
  if (!root.trusted) {
    const { reason, found } = root
    if (found === null || path !== '') return { kind: 'impossible', reason }
    return { kind: 'root', mirror, reason, identity: found.identity }
  }
  const doubts = synced.folders.unknown(mirror.id)
  const folder = doubts.find(doubt => doubt.path === path)
  if (!folder)
    return { kind: 'needless', elsewhere: doubts.map(doubt => fullPath(mirror.folder, doubt.path)) }
  const reason = because('at_path', { path: fullPath(mirror.folder, path), why: folder.unknown })
  return canBeTrusted(folder.code)
    ? { kind: 'folder', mirror, reason, folder }
    : { kind: 'impossible', reason }
}

/**
 * The pictures at and below a folder that have an image and are not there now, by their paths below the mirror's root.
 * Looks at one after the other: there may be a million.
 */
export function* missingPictures(
  disk: Disk,
  synced: Synced,
  { id, folder: root }: MirrorRow,
  path: string,
): Generator<string> {
  // A folder that an ignore rule hides is not scanned, so nothing is missing there.
  const absent = new Set(synced.folders.absent(id))
  for (const folder of synced.folders.withFiles(id)) {
    if (folder.path !== path && !isBelow(folder.path, path)) continue
    for (const { name, image, state } of synced.files.ofFolder(folder.id)) {
      if (image === null || state === 'kept' || (state === 'hidden' && absent.has(folder.path))) continue
      const at = pathOf(folder.path, name)
      if (!isThere(disk, fullPath(root, at))) yield at
    }
  }
}

/** Records a person's trust for the next scan. The trust holds for the root that is there now. Another root is in doubt again. */
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
