import type { Disk } from '../local/disk.ts'
import type { FileRow } from '../synced/files.ts'
import type { Synced } from '../synced/synced.ts'
import type { ScannedMirror } from './mirror-scans.ts'
import { isSameRoot } from './root-guard.ts'
import { pathOf } from './tree-path.ts'

/** The disk as it is at this moment, looked at once more before something can't be undone. */
export class Ground {
  readonly #disk: Disk
  readonly #synced: Synced
  readonly #mirrors: ReadonlyMap<number, ScannedMirror>

  constructor({ disk, synced }: { disk: Disk; synced: Synced }, scanned: readonly ScannedMirror[]) {
    this.#disk = disk
    this.#synced = synced
    this.#mirrors = new Map(scanned.map(mirror => [mirror.row.id, mirror]))
  }

  /** Why the local truth of a mirror is in doubt, or null. */
  doubt({ policy, identity, row }: ScannedMirror): string | null {
    if (row.guard !== null) return row.guard
    return isSameRoot(this.#disk, policy.folder, identity) ? null : `${policy.folder} was replaced`
  }

  /** Why a file can't be taken for gone, or null: another mirror's file counts as much as one's own. */
  whyNotGone(file: FileRow): string | null {
    const folder = this.#synced.folders.byId(file.folder)!
    const mirror = this.#mirrors.get(folder.mirror)
    if (!mirror) return 'it stood for a picture of another mirror, which can not be looked at'
    if (mirror.policy.deletions === 'keep') return 'another mirror keeps it'
    const path = pathOf(folder.path, file.name)
    return (
      this.doubt(mirror) ??
      (this.#isThere(`${mirror.policy.folder}/${path}`) ? `${path} is there again` : null)
    )
  }

  #isThere(path: string): boolean {
    try {
      // A folder in its place means that the picture is gone; a link or an empty file may still stand for it.
      return this.#disk.lstat(path).kind !== 'folder'
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code !== 'ENOENT' && code !== 'ENOTDIR'
    }
  }
}
