import { dirname } from 'node:path/posix'
import type { Disk } from '../../local/disk.ts'
import type { FolderLook } from '../../local/look.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import { because } from '../../words/reasons.ts'
import type { LookAtFolders } from '../context.ts'
import { fullPath } from '../tree-path.ts'
import type { Doubt } from './doubts.ts'
import type { KnownFolders } from './known-folders.ts'

/**
 * Whether a folder below a root is a mount point at this moment: its device is another than its parent's, or the system
 * lists it. What this can't tell: a folder that was moved together with its mount (at its old place it is gone).
 */
export function isMount(disk: Disk, root: string, path: string): boolean {
  const at = `${root}/${path}`
  try {
    const { kind, dev } = disk.lstat(at)
    if (kind !== 'folder') return false
    return disk.lstat(dirname(at)).dev !== dev || disk.mountPoints(root).has(path)
  } catch {
    return false
  }
}

/** The looks at a root's folders, with `mount` set also for mounts that only the system's list shows. */
export function noticingMounts(look: LookAtFolders, disk: Disk, root: string): LookAtFolders {
  return async batch => {
    const results = await look(batch)
    if (results.every(({ kind }) => kind === 'same')) return results
    const mounts = disk.mountPoints(root)
    return results.map(result =>
      result.kind === 'different' && mounts.has(result.path)
        ? { ...result, look: { ...result.look, mount: true } }
        : result,
    )
  }
}

export interface MountFacts {
  /** The mirror's folder. */
  folder: string
  /** Whether a folder below the root is a mount point at this moment. */
  isMount: (path: string) => boolean
  /** Whether most recorded files at and below a folder are on the disk. */
  holdsKnown: (path: string) => boolean
  /** Notes a person's trust in a folder. */
  accepted: boolean
}

/**
 * Doubts about folders below the root that are or were mount points. When a disk is not mounted, its mount point shows
 * whatever lies under it, mostly nothing. When a disk was mounted over a folder, it hides the pictures in that folder.
 */
export class MountDoubts {
  readonly #facts: MountFacts
  readonly #known: KnownFolders

  constructor(facts: MountFacts, known: KnownFolders) {
    this.#facts = facts
    this.#known = known
  }

  /** The first of these folders that was a mount point and is none now, or null. */
  lost(paths: string[]): Doubt | null {
    if (this.#facts.accepted) return null
    const folder = paths
      .flatMap(path => this.#known.at(path) ?? [])
      .find(({ mount, accept, path }) => mount === 1 && accept === 0 && !this.#facts.isMount(path))
    return folder ? this.#unmounted(folder, folder) : null
  }

  /** The doubt about a folder at which another disk is mounted than before, or null. */
  seen(folder: FolderRow, look: FolderLook): Doubt | null {
    if (folder.mount === 1 && !look.mount) return this.#unmounted(folder, folder)
    if (!this.#isAnotherDisk(folder, look)) return null
    const at = fullPath(this.#facts.folder, folder.path)
    const code = folder.mount === 1 ? 'folder_remounted' : 'folder_mounted_over'
    return { folder, code: 'FOLDER_UNMOUNTED', why: because(code, { folder: at }) }
  }

  /** The doubt about a folder that its parent does not list, or null. Its pictures may be on a disk that was mounted there or below. */
  missing(folder: FolderRow): Doubt | null {
    const mount = this.#known.from(folder.path).find(below => below.mount === 1)
    return mount ? this.#unmounted(folder, mount) : null
  }

  #unmounted(folder: FolderRow, mount: FolderRow): Doubt {
    const below = mount === folder ? null : mount.path.slice(folder.path.length + 1)
    return {
      folder,
      code: 'FOLDER_UNMOUNTED',
      why: because('folder_unmounted', { folder: fullPath(this.#facts.folder, folder.path), below }),
    }
  }

  /**
   * Also where none was mounted before, because the pictures may lie under it. A file system without birth times (FAT)
   * can't be told from another, so there the known files decide.
   */
  #isAnotherDisk(
    { path, mount, mounted_ino, mounted_birthtime }: FolderRow,
    { identity, mount: isMounted }: FolderLook,
  ): boolean {
    if (!isMounted || (mount === 1 && mounted_ino === null)) return false
    const isIt = mount === 1 && mounted_ino === identity.ino && mounted_birthtime === identity.birthtime
    return !isIt && !this.#facts.holdsKnown(path)
  }
}
