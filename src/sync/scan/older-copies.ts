import { grainOf } from '../../local/disk.ts'
import type { IgnoreRules } from '../../local/ignore-rules.ts'
import { type FolderLook, lookAtFolder, rulesWithin } from '../../local/look.ts'
import type { FileChange } from '../../records/pictures.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { folderAbove, fullPath, pathOf } from '../tree-path.ts'
import type { Doubt } from './doubts.ts'
import { anyKnownIsThere, isHeld } from './trust.ts'

/**
 * Finds folders that are an older copy of what they were: a snapshot that was mounted over the folder, or a backup that was
 * put in its place. What an older copy lacks was not deleted.
 *
 * A picture can only leave a folder by a change of the folder. So a folder that was last changed before a picture came into
 * the folder has never held this picture. An example: a copy of `2026/` was made at noon, `a.jpg` came into `2026/` at one
 * o'clock, and the copy is mounted over `2026/` at two. The copy was last changed before noon. Had a person deleted
 * `a.jpg`, the folder would have been changed after one o'clock.
 *
 * A change of the copy sets this time too. When a copy was changed before albumd looked at it, nothing tells it from a folder
 * in which a person deleted pictures.
 *
 * Another folder may have been renamed to this name, and may be as old. But it holds other pictures, and none of the known
 * pictures, so it is no copy. A folder that holds nothing to be mirrored, in the folders below it neither, is an older copy:
 * it was copied before the first picture came.
 */
export class OlderCopies {
  readonly #context: Pick<EngineContext, 'disk' | 'synced'>
  readonly #mirror: MirrorRow
  /** The ignore rules of the folders above a path. */
  readonly #rulesAbove: (path: string) => IgnoreRules[]

  constructor(
    context: Pick<EngineContext, 'disk' | 'synced'>,
    mirror: MirrorRow,
    rulesAbove: (path: string) => IgnoreRules[],
  ) {
    this.#context = context
    this.#mirror = mirror
    this.#rulesAbove = rulesAbove
  }

  /** The doubt about a folder that was looked at, or null. */
  seen(folder: FolderRow, look: FolderLook, changes: readonly FileChange[]): Doubt | null {
    const lost = changes.flatMap(change => this.#lost(change) ?? [])
    return lost.length > 0 && (isDoubted(folder) || this.#isOlder(lost, look, folder.path))
      ? this.#doubt(folder)
      : null
  }

  /**
   * The doubt about a folder that its parent does not list, or null. `from`: the folder and the known folders below it. When
   * one of them was in doubt, the doubt goes on, because an older copy may be renamed with a folder above it.
   */
  missing(from: readonly FolderRow[], folder: FolderRow, parent: FolderLook): Doubt | null {
    const wasDoubted = from.some(isDoubted)
    if (!wasDoubted && !this.#mayTell(parent)) return null
    const { synced } = this.#context
    // A hidden picture may have been deleted long ago, but never from a folder that was last changed before it came.
    const isLost = (file: FileRow) => (file.state === 'hidden' && file.image !== null) || isHeld(synced, file)
    const lost = from.flatMap(({ id }) => synced.files.ofFolder(id)).filter(isLost)
    return lost.length > 0 && (wasDoubted || this.#isOlder(lost, parent, folderAbove(folder.path)))
      ? this.#doubt(folder)
      : null
  }

  /**
   * The recorded file that a change takes away: the file is gone, or an older version is in its place. Null for other
   * changes.
   */
  #lost({ kind, file }: FileChange): FileRow | null {
    if (kind === 'gone' && file.image !== null) return file
    const { synced } = this.#context
    const { folder, name, ctime, mtime } = file
    const before = kind === 'gone' || kind === 'pending' ? synced.files.at({ folder, name }) : undefined
    if (!before || !isHeld(synced, before)) return null
    const isOlder = mtime < before.mtime && ctime < this.#cameAt(before)
    return kind === 'gone' || isOlder ? before : null
  }

  /**
   * A folder in doubt stays in doubt until everything that it lacked is back, because new pictures may come into an older
   * copy too.
   */
  #doubt(folder: FolderRow): Doubt {
    const at = fullPath(this.#mirror.folder, folder.path)
    return { folder, code: 'FOLDER_OLDER', why: because('folder_older', { folder: at }) }
  }

  #isOlder(lost: readonly FileRow[], look: FolderLook, copied: string): boolean {
    const { disk, synced } = this.#context
    // When a picture seems to have come in the future, a clock is wrong, and the time proves nothing.
    const isNew = (came: number) => came > look.changedAt && came <= disk.now()
    if (!this.#mayTell(look) || !lost.some(file => isNew(this.#cameAt(file)))) return false
    return (
      anyKnownIsThere(disk, synced, this.#mirror, copied) ||
      !this.#holdsPictures(look, copied, this.#rulesAbove(copied))
    )
  }

  /** Whether a folder that was looked at holds a picture. A folder below it that can't be read may hold none. */
  #holdsPictures(look: FolderLook, path: string, above: readonly IgnoreRules[]): boolean {
    const { disk } = this.#context
    const rules = rulesWithin({ path, rules: above }, look.ignoreFile)
    const holds = (below: string) => {
      const result = lookAtFolder(disk, this.#mirror.folder, { path: below, rules, digest: null })
      return result.kind === 'different' && this.#holdsPictures(result.look, below, rules)
    }
    return look.files.length > 0 || look.folders.some(name => holds(pathOf(path, name)))
  }

  /**
   * Whether the time of the folder's last change can be compared with the records: this machine's clock has set it, and an
   * image, or the intent of an upload in doubt, was recorded later.
   */
  #mayTell({ changedAt }: FolderLook): boolean {
    const { disk, synced } = this.#context
    const isLater = (recorded: number | undefined) => recorded !== undefined && recorded * 1000 > changedAt
    const isAnyLater = () =>
      isLater(synced.images.latest()?.recorded_at) ||
      synced.journal.openUploads().some(({ since }) => isLater(since))
    return changedAt > 0 && isAnyLater() && !disk.isRemote(this.#mirror.folder)
  }

  /**
   * When the picture came into its folder. This is its ctime, or its mtime while the ctime is not known. But a chmod sets
   * the ctime anew, and the picture was there before its image or the intent of its upload was recorded. So the time of the
   * record is answered when it is earlier. A picture that was gone and uses its image again came after the last end of a
   * version at its path. This end is a time of the clock, and the disk stamps a later change with an earlier time.
   */
  #cameAt({ folder, name, mtime, ctime, image }: FileRow): number {
    const { folders, images, journal, versions } = this.#context.synced
    if (image === null) {
      const sent = journal.openOnFile({ folder, name }).map(({ since }) => since * 1000)
      return Math.min(ctime === 0 ? mtime : ctime, ...sent)
    }
    const { recorded_at } = images.byId(image)!
    const { mirror, path } = folders.byId(folder)!
    const ended = versions.latestEnd({ mirror, path: pathOf(path, name) }) ?? 0
    const back = ended > recorded_at ? ended * 1000 - grainOf(mtime) : 0
    return Math.min(ctime === 0 ? Math.max(mtime, back) : ctime, Math.max(recorded_at * 1000, back))
  }
}

function isDoubted({ unknown }: FolderRow): boolean {
  return unknown !== null && codeOf(unknown) === 'folder_older'
}
