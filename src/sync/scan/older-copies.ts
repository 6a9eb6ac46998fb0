import { grainOf } from '../../local/disk.ts'
import type { IgnoreRules } from '../../local/ignore-rules.ts'
import { type FileLook, type FolderLook, lookAtFolder, rulesWithin } from '../../local/look.ts'
import type { FileChange } from '../../records/pictures.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, reasonIn } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { missingReasonIn } from '../plan.ts'
import { folderAbove, fullPath, pathOf } from '../tree-path.ts'
import type { Doubt } from './doubts.ts'
import { isAnyKnownThere, isHeld, mayBeOnHost } from './trust.ts'

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
 *
 * A scan may come between the two steps in which a person swaps a folder: `mv trip aside`, then `mv backup/trip trip`. Then
 * the pictures are gone, and their images wait in escrow. So a folder that is back, or holds pictures again, is judged by
 * what it held before.
 */
export class OlderCopies {
  readonly #context: Pick<EngineContext, 'disk' | 'synced'>
  readonly #mirror: MirrorRow
  /** The ignore rules of the folders above a path. */
  readonly #rulesAbove: (path: string) => IgnoreRules[]
  /** The paths of folders from which pictures went that this scan has taken back. */
  readonly #back = new Set<string>()

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
    return lost.length > 0 && (this.#isDoubted(folder) || this.#isOlder(lost, look, folder.path))
      ? this.#doubt(folder)
      : null
  }

  /**
   * The doubt about a folder that its parent does not list, or null. `from`: the folder and the known folders below it. When
   * one of them was in doubt, the doubt goes on, because an older copy may be renamed with a folder above it.
   */
  missing(from: readonly FolderRow[], folder: FolderRow, parent: FolderLook): Doubt | null {
    const wasDoubted = from.some(below => this.#isDoubted(below))
    if (!wasDoubted && !this.#mayTell(parent)) return null
    const { synced } = this.#context
    // A hidden picture may have been deleted long ago, but never from a folder that was last changed before it came.
    const lost = from.flatMap(({ id }) => synced.files.ofFolder(id)).filter(file => mayBeOnHost(synced, file))
    return lost.length > 0 && (wasDoubted || this.#isOlder(lost, parent, folderAbove(folder.path)))
      ? this.#doubt(folder)
      : null
  }

  /**
   * The pictures that went with a folder and were not deleted, by their folders: the folder is back, and it is an older copy of
   * what it was. Folders below it may still be gone. Asked at the first look at a folder that was gone or held no picture,
   * because later a person may have put another folder in its place.
   */
  wentWith(folder: FolderRow, look: FolderLook): Map<FolderRow, FileRow[]> {
    const { id, path } = folder
    const went = this.#wentFrom(folder, look)
    const there = new Map(look.files.map(file => [file.name, file]))
    const reasonOf = missingReasonIn(look)
    const isLost = (file: FileRow) => {
      const seen = file.folder === id ? there.get(file.name) : undefined
      return seen ? this.#isNewerThan(file, seen) : file.folder !== id || reasonOf(file.name) === 'gone'
    }
    const lost = [...went.values()].flat().filter(isLost)
    if (lost.length === 0 || !this.#isOlder(lost, look, path, true)) return new Map()
    for (const from of went.keys()) this.#back.add(from.path)
    return went
  }

  /**
   * Whether a folder holds no picture, although pictures were in it or in a folder below it. The folder may become the mount
   * point of an older copy, for example. So the next look is a first look too.
   */
  isEmptied({ mirror, path }: FolderRow, look: FolderLook): boolean {
    const { synced } = this.#context
    const isMissed = (file: FileRow) => isHeld(synced, file) || this.#isGoing(file)
    if (look.files.length > 0) return false
    for (const file of synced.files.below(mirror, path))
      if (isMissed(file)) return this.#holdsNothing(look, path)
    return false
  }

  /**
   * Another doubt about a folder, with the doubt about an older copy where that goes on. An example: an older copy gets a new
   * picture, so the time of the folder proves nothing any more. Then the disk of the copy can't be read for a moment.
   */
  beside(other: Doubt): Doubt {
    const { folder, why: now, code } = other
    if (code === 'FOLDER_OLDER' || !this.#isDoubted(folder)) return other
    return { ...other, why: because('folder_older_and', { why: this.#doubt(folder).why, now }) }
  }

  /** The pictures that went with a folder, and with those below it that are still gone, when it was not judged yet. */
  #wentFrom(folder: FolderRow, look: FolderLook): Map<FolderRow, FileRow[]> {
    const { mirror, path } = folder
    // The record is the same when the process has died before the first look.
    const isBack = folder.digest === null && folder.files === 0
    if (!isBack) return new Map()
    const listed = new Set(look.folders)
    const toNames = path === '' ? 0 : path.length + 1
    const below = this.#context.synced.folders
      .absentBelow(mirror, path)
      .filter(gone => !listed.has(gone.path.slice(toNames).split('/', 1)[0]!))
    const went = ({ id }: FolderRow) =>
      this.#context.synced.files.ofFolder(id).filter(file => this.#isGoing(file))
    const all = [folder, ...below].map(from => [from, went(from)] as const)
    return new Map(all.filter(([, files]) => files.length > 0))
  }

  /** Whether a picture is gone, and its image waits for a deletion that no person has approved. */
  #isGoing({ state, image }: FileRow): boolean {
    const entry = state === 'gone' && image !== null ? this.#context.synced.escrow.of(image) : undefined
    return entry?.reason === 'deleted' && entry.state !== 'approved'
  }

  /**
   * The recorded file that a change takes away: the file is gone, or an older version is in its place. Null for other
   * changes.
   */
  #lost({ kind, file }: FileChange): FileRow | null {
    if (kind !== 'gone' && kind !== 'pending') return null
    const { synced } = this.#context
    const { folder, name } = file
    const before = synced.files.at({ folder, name })
    // A rule that hid the file for a while takes nothing away either.
    if (!before || !mayBeOnHost(synced, before)) return null
    return kind === 'gone' || this.#isNewerThan(before, file) ? before : null
  }

  /** Whether the recorded version of a file is another than the one that is there, and came later. */
  #isNewerThan(before: FileRow, { ctime, mtime, size }: FileLook): boolean {
    return (mtime !== before.mtime || size !== before.size) && ctime < this.#cameAt(before)
  }

  #isDoubted({ path, unknown }: FolderRow): boolean {
    return this.#back.has(path) || (unknown !== null && reasonIn(unknown, 'folder_older') !== null)
  }

  /**
   * A folder in doubt stays in doubt until everything that it lacked is back, because new pictures may come into an older
   * copy too.
   */
  #doubt(folder: FolderRow): Doubt {
    const at = fullPath(this.#mirror.folder, folder.path)
    return { folder, code: 'FOLDER_OLDER', why: because('folder_older', { folder: at }) }
  }

  #isOlder(lost: readonly FileRow[], look: FolderLook, copied: string, isBack = false): boolean {
    const { disk, synced } = this.#context
    // When a picture seems to have come in the future, a clock is wrong, and the time proves nothing. A picture may have come
    // so soon after the copy was made that both have the same time. A deletion has a later time, because the picture was sent
    // before.
    const isNew = (came: number) => came >= look.changedAt && came <= disk.now()
    if (!this.#mayTell(look) || !lost.some(file => isNew(this.#cameAt(file)))) return false
    return (
      this.#holdsNothing(look, copied) ||
      isAnyKnownThere(disk, synced, this.#mirror, copied, this.#picturesIn(look, copied), isBack)
    )
  }

  #holdsNothing(look: FolderLook, path: string): boolean {
    return this.#picturesIn(look, path).next().done === true
  }

  /**
   * The pictures in a folder that was looked at, and in the folders below it. A folder that can't be read may hold none. A
   * generator, because the first picture is mostly enough.
   */
  *#picturesIn(
    look: FolderLook,
    path: string,
    above: readonly IgnoreRules[] = this.#rulesAbove(path),
  ): Generator<FileLook> {
    yield* look.files
    const { disk } = this.#context
    const rules = rulesWithin({ path, rules: above }, look.ignoreFile)
    for (const name of look.folders) {
      const folder = { path: pathOf(path, name), rules, digest: null }
      const result = lookAtFolder(disk, this.#mirror.folder, folder)
      if (result.kind === 'different') yield* this.#picturesIn(result.look, folder.path, rules)
    }
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
   * record is answered when it is earlier. Of several records the last one counts, because a file uses its old image while
   * the upload of its newer version is in doubt. A picture that was gone and uses its image again came after the last end of a
   * version at its path, but for the end with which a picture went that is gone now. This end is a time of the clock, and the
   * disk stamps a later change with an earlier time.
   */
  #cameAt({ folder, name, mtime, ctime, image, state, since }: FileRow): number {
    const { folders, images, journal, versions } = this.#context.synced
    const { mirror, path } = folders.byId(folder)!
    const imaged = image === null ? 0 : images.byId(image)!.recorded_at
    const sent = journal.openOnFile({ folder, name }).map(intent => intent.since * 1000)
    const before = state === 'gone' ? since! : Number.POSITIVE_INFINITY
    const ended = versions.latestEnd({ mirror, path: pathOf(path, name), before }) ?? 0
    const back = image !== null && ended > imaged ? ended * 1000 - grainOf(mtime) : 0
    return Math.min(ctime === 0 ? Math.max(mtime, back) : ctime, Math.max(imaged * 1000, back, ...sent))
  }
}
