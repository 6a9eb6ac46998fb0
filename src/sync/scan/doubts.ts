import { dirname } from 'node:path/posix'
import type { Disk, Identity } from '../../local/disk.ts'
import type { FolderLook, IgnoreFile } from '../../local/look.ts'
import type { Stopwatch } from '../../protocol/clock.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { DiskPort, LookAtFolders } from '../context.ts'
import { fullPath } from '../tree-path.ts'
import type { KnownFolders } from './known-folders.ts'
import { allKnownAreThere } from './trust.ts'

/** Why a folder is in doubt. A person can end the first three of these doubts by `albumd trust`. */
export type DoubtCode =
  | 'FOLDER_UNMOUNTED'
  | 'FOLDER_EMPTIED'
  | 'FOLDER_OLDER'
  | 'FOLDER_UNREADABLE'
  | 'IGNORE_FILE_UNREADABLE'

/** A folder that may not hold what a person left there. Until that is known, nothing in it is uploaded or deleted. */
export interface Doubt {
  folder: FolderRow
  code: DoubtCode
  why: Reason
}

/** Whether a folder below a root is a mount point now: by its device, or by the system's list. */
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

/** Whether another disk is mounted at a mount point than before, or at a folder that was none. Disks without birth times (FAT)
 * may look alike, so in the end the known files decide. */
export function isAnotherDisk(
  disk: Disk,
  synced: Synced,
  mirror: MirrorRow,
  folder: FolderRow,
  { ino, birthtime }: Identity,
): boolean {
  if (folder.mount === 1 && folder.ino === null) return false
  const isIt = folder.mount === 1 && folder.ino === ino && folder.birthtime === birthtime
  return !isIt && !allKnownAreThere(disk, synced, mirror, folder.path)
}

/** Wraps a function that looks at folders, so that `mount` is also set for mounts that only the system's list shows. */
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

/** Doubts about folders below the root that are or were mount points. When a disk is not mounted, its mount point is an ordinary
 * and mostly empty folder. A disk that was mounted over a folder hides the pictures in it. */
export class MountDoubts {
  readonly #context: DiskPort
  readonly #mirror: MirrorRow
  /** Whether a person trusts the mirror as it is. */
  readonly #accepted: boolean
  readonly #known: KnownFolders

  constructor(context: DiskPort, mirror: MirrorRow, accepted: boolean, known: KnownFolders) {
    this.#context = context
    this.#mirror = mirror
    this.#accepted = accepted
    this.#known = known
  }

  /** The doubt about the first of these folders that was a mount point and is none now, or null. */
  lost(paths: string[]): Doubt | null {
    if (this.#accepted) return null
    const { disk } = this.#context
    const folder = paths
      .flatMap(path => this.#known.at(path) ?? [])
      .find(
        ({ mount, accept, path }) => mount === 1 && accept === 0 && !isMount(disk, this.#mirror.folder, path),
      )
    return folder ? this.#unmounted(folder, folder) : null
  }

  /** The doubt about a folder at which another disk is mounted than before, or null. */
  seen(folder: FolderRow, look: FolderLook): Doubt | null {
    if (folder.mount === 1 && !look.mount) return this.#unmounted(folder, folder)
    const { disk, synced } = this.#context
    if (!look.mount || !isAnotherDisk(disk, synced, this.#mirror, folder, look.identity)) return null
    const at = fullPath(this.#mirror.folder, folder.path)
    const code = folder.mount === 1 ? 'folder_remounted' : 'folder_mounted_over'
    return { folder, code: 'FOLDER_UNMOUNTED', why: because(code, { folder: at }) }
  }

  /** The doubt about a folder that its parent does not list, because a disk was mounted there or below; or null. */
  missing(folder: FolderRow): Doubt | null {
    const mount = this.#known.from(folder.path).find(below => below.mount === 1)
    return mount ? this.#unmounted(folder, mount) : null
  }

  #unmounted(folder: FolderRow, mount: FolderRow): Doubt {
    const below = mount === folder ? null : mount.path.slice(folder.path.length + 1)
    return {
      folder,
      code: 'FOLDER_UNMOUNTED',
      why: because('folder_unmounted', { folder: fullPath(this.#mirror.folder, folder.path), below }),
    }
  }
}

/** For how long after it vanished a file may be saved again: an editor may delete a file and write it anew. */
const BACK_SOON_MS = 10_000

/** Remembers ignore files that were found gone, alone or with their folder: without its rules, all that one hid would be
 * published. One counts as gone when a pass at least ten seconds later does not find it either. Until then nothing of the folder
 * is uploaded, because an editor may delete the file and rename a new one to its place. */
export class VanishedRules {
  readonly #clock: Stopwatch
  /** When each ignore file was found gone, by mirror and path: its folder may lose its row meanwhile. */
  readonly #foundGone = new Map<string, number>()

  constructor(clock: Stopwatch) {
    this.#clock = clock
  }

  /** Begins a pass. An ignore file that was found gone long enough ago counts as gone if this pass does not find it either. */
  passBegins(): void {
    const now = this.#clock.monotonic()
    for (const [folder, since] of this.#foundGone)
      if (now - since >= BACK_SOON_MS) this.#foundGone.delete(folder)
  }

  /** Notes that a folder with an ignore file is missing. */
  folderGoes(folder: FolderRow): void {
    if (folder.ignore_text !== null) this.#note(folder)
  }

  /** The folder's ignore file as it was found. `vanished`: it was there before, and may come back at any moment. */
  judge({ folders }: Tx, folder: FolderRow, { ignoreFile }: FolderLook): IgnoreFile | { vanished: true } {
    if ('text' in ignoreFile && ignoreFile.text !== null) this.#foundGone.delete(keyOf(folder))
    const isJustGone = this.#foundGone.has(keyOf(folder))
    const hadOne = folder.ignore_text !== null || isJustGone
    const vanished = 'text' in ignoreFile && ignoreFile.text === null && hadOne
    const isStillGone = folder.ignore_gone === 1 && !isJustGone
    if (!vanished || isStillGone) return ignoreFile
    this.#note(folder)
    folders.ignoreGone(folder.id)
    return { vanished: true }
  }

  #note(folder: FolderRow): void {
    const key = keyOf(folder)
    if (!this.#foundGone.has(key)) this.#foundGone.set(key, this.#clock.monotonic())
  }
}

function keyOf({ mirror, path }: FolderRow): string {
  return `${mirror}/${path}`
}
