import type { Disk } from '../../local/disk.ts'
import { RESTORE_FOLDER } from '../../local/look.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { isMount, isSameRoot, lookAt, type ScannedMirror, whetherThere } from '../scan/index.ts'
import { fileAt, foldersAbove, fullPath, pathOf } from '../tree-path.ts'

/** Looks at the disk once more, anew for each question, just before a deletion, which can't be undone. */
export class LastCheck {
  readonly #disk: Disk
  readonly #synced: Synced
  readonly #mirrors: ReadonlyMap<number, ScannedMirror>
  /** A location that the disk could not be asked about, or null. */
  #unseen: string | null = null

  constructor({ disk, synced }: { disk: Disk; synced: Synced }, scanned: readonly ScannedMirror[]) {
    this.#disk = disk
    this.#synced = synced
    this.#mirrors = new Map(scanned.map(mirror => [mirror.row.id, mirror]))
  }

  /** Why a mirror's root or one of its mounts is in doubt, or null. */
  #doubtOf({ policy, identity, row, mounts }: ScannedMirror): Reason | null {
    if (row.guard !== null) return row.guard
    const lost = mounts.find(path => !isMount(this.#disk, policy.folder, path))
    // The root is checked last. If it is another one, the mounts were looked for below the wrong root.
    if (!isSameRoot(this.#disk, policy.folder, identity))
      return because('root_replaced', { folder: policy.folder })
    return lost === undefined ? null : because('mount_gone', { path: lost })
  }

  /** Why the root or a mount of any mirror is in doubt, or null. A picture may have moved to each of them. */
  doubt(): Reason | null {
    if (this.#unseen !== null) return because('location_unseen', { path: this.#unseen })
    for (const mirror of this.#mirrors.values()) {
      const doubt = this.#doubtOf(mirror)
      if (doubt !== null) return doubt
    }
    return null
  }

  /** Why a file of any mirror is perhaps not gone, or null. */
  whyNotGone(file: FileRow): Reason | null {
    const folder = this.#synced.folders.byId(file.folder)!
    const mirror = this.#mirrors.get(folder.mirror)
    if (!mirror) return because('other_mirror_unseen')
    if (mirror.policy.deletions === 'keep') return because('other_mirror_keeps')
    const path = pathOf(folder.path, file.name)
    const doubt = this.#doubtOf(mirror)
    if (doubt !== null) return doubt
    if (!this.#isThere(mirror, path)) return null
    return this.#isPruned(mirror, path, file) ? null : because('file_there_again', { path })
  }

  /** Why a restore that has not ended perhaps needs an image, or null. What it has not put back yet was not deleted. */
  whyRestored({ mirror, path }: EscrowRow): Reason | null {
    const root = this.#mirrors.get(mirror)?.policy.folder
    for (const folder of root === undefined ? [] : foldersAbove(path)) {
      const own = `${fullPath(root!, folder)}/${RESTORE_FOLDER}`
      if (whetherFolder(this.#disk, own)) return because('folder_restored', { own })
    }
    return null
  }

  /** Why a picture is perhaps at the location of an image that no file uses, or null. */
  whyThere({ mirror, path }: EscrowRow): Reason | null {
    // The file here uses a newer image, so the older image's picture is not here any more.
    const file = fileAt(this.#synced, mirror, path)
    if (file && file.state !== 'gone' && file.image !== null) return null
    return this.#isThere(this.#mirrors.get(mirror)!, path) ? because('file_there_again', { path }) : null
  }

  /** Whether something is at a path, under this very name: a disk that ignores case may find it under another one. */
  #isThere({ policy: { folder } }: ScannedMirror, path: string): boolean {
    const at = `${folder}/${path}`
    const there = whetherThere(this.#disk, at)
    if (there === 'unknown') this.#unseen = at
    return there !== 'no' && !isAnotherName(this.#disk, folder, path)
  }

  /** Whether a person asked to delete the images of ignored pictures, and an ignore rule still hides this picture. */
  #isPruned({ policy }: ScannedMirror, path: string, { image }: FileRow): boolean {
    const asked = policy.pruneIgnored || this.#synced.escrow.of(image ?? 0)?.reason === 'ignored'
    if (!asked) return false
    const found = lookAt(this.#disk, { mirror: policy, path })
    if (found.kind === 'unknown') this.#unseen = `${policy.folder}/${path}`
    return found.kind === 'left_out' && found.why === 'ignored'
  }
}

function whetherFolder(disk: Disk, path: string): boolean {
  try {
    return disk.lstat(path).kind === 'folder'
  } catch {
    return false
  }
}

/** Whether a path below `root` is found only because the disk ignores case: `A/b.png` is found, but the root lists only `a`, with
 * the same inode. Reads every folder on the path. */
export function isAnotherName(disk: Disk, root: string, path: string): boolean {
  let above = root
  try {
    for (const name of path.split('/')) {
      const names = disk.readFolder(above).map(entry => entry.name)
      const { ino } = disk.lstat(`${above}/${name}`)
      const isIt = (other: string) =>
        folded(other) === folded(name) && disk.lstat(`${above}/${other}`).ino === ino
      if (!names.includes(name) && names.some(isIt)) return true
      above = `${above}/${name}`
    }
  } catch {
    // A folder that can't be read proves nothing, so the answer is no.
  }
  return false
}

function folded(name: string): string {
  return name.normalize().toLowerCase()
}
