import type { FileRow } from '../../../src/synced/tables/files.ts'
import { reasonIn } from '../../../src/words/reasons.ts'
import { isIgnored, livePictures } from '../disk/live-pictures.ts'
import { type Node, split } from '../disk/tree.ts'
import { folderAt, pathOfRow, rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'

interface Copy {
  /** Since which moment of the disk the copy is there. */
  since: number
  /** The paths of what was there before and is not in the copy, or in another version. */
  lacks: string[]
  /** The time of the folder's last change when the copy came. */
  changedAt: number
  /** How wrong the clock was when the copy was made. */
  offset: number
  /** The folder was gone before the copy came. */
  isBack: boolean
  /** Albumd has looked at the folder since. */
  wasSeen: boolean
  /** What that look said of a folder stays so, whatever else puts the folder in doubt later. */
  isDecided: boolean
}

/** What the disk shows of a version of a picture. */
type Version = Pick<FileRow, 'size' | 'mtime'>

type Surroundings = Pick<World, 'disk' | 'doubts' | 'machine' | 'mirrors' | 'state'>

/**
 * Older copies in the places of roots and folders. Whether albumd can know one hangs on what is there when albumd looks at
 * it, and on what is recorded then.
 */
export class Copies {
  readonly #world: Surroundings
  /** By the root or the folder of a copy that lacks something. */
  readonly #copies = new Map<string, Copy>()

  constructor(world: Surroundings) {
    this.#world = world
  }

  /** An older copy is in the place of a root or a folder. */
  put(path: string, { lacks, ...copy }: Pick<Copy, 'lacks' | 'offset' | 'isBack'>): void {
    const { disk, mirrors } = this.#world
    this.forget(path)
    const since = disk.happens()
    const isRoot = mirrors.some(({ folder }) => folder === path)
    const places = isRoot ? [[path, lacks] as const] : Map.groupBy(lacks, at => this.#folderAbove(at))
    for (const [place, lacked] of places) {
      const changedAt = disk.find(place)!.node.mtime
      this.#copies.set(place, {
        ...copy,
        since,
        lacks: [...lacked],
        changedAt,
        wasSeen: false,
        isDecided: false,
      })
    }
  }

  /** Something else is in the place of a root or a folder; or all is forgotten (''). */
  forget(place: string): void {
    for (const path of this.#copies.keys()) if (`${path}/`.startsWith(`${place}/`)) this.#copies.delete(path)
  }

  /** Albumd looks at a root or a folder. */
  isLookedAt(path: string): void {
    const copy = this.#copies.get(path)
    if (!copy) return
    const isRoot = this.#world.mirrors.some(({ folder }) => folder === path)
    if (isRoot) this.#lookAtRoot(path, copy)
    else this.#lookAtFolder(path, copy)
  }

  /**
   * A root that lacks nothing and holds most of the pictures is taken as it is. The first look decides, and each other one for
   * as long as the root is in doubt.
   */
  #lookAtRoot(root: string, copy: Copy): void {
    if (copy.wasSeen && this.#world.state.synced.mirrors.of(root)?.guard_code !== 'ROOT') return
    copy.wasSeen = true
    if (this.#lacksAny(copy) || !this.#areMostAsKnown(root)) return
    this.#world.doubts.otherRoot.delete(root)
    this.#copies.delete(root)
  }

  /** The first look decides, unless the folder is in doubt for another reason alone then. */
  #lookAtFolder(folder: string, copy: Copy): void {
    const { doubts, mirrors, state } = this.#world
    const unknown = folderAt(state.synced, mirrors, folder)?.unknown ?? null
    if (copy.wasSeen && (unknown === null || reasonIn(unknown, 'folder_older') !== null))
      copy.isDecided = true
    if (copy.isDecided) return
    copy.wasSeen = true
    if (this.#lacksAny(copy) && this.#canBeKnown(folder, copy)) doubts.lostMount.set(folder, copy.since)
    else doubts.lostMount.delete(folder)
  }

  /**
   * Whether albumd can know the copy. It can't once an entry has come or gone in it, because this sets the folder's time.
   * Neither can it when the copy holds something, and no picture that albumd knew: the copy looks like another folder of
   * the name then. After a clock was set back, what came later looks older than the copy.
   */
  #canBeKnown(folder: string, { changedAt, offset, isBack }: Copy): boolean {
    const { disk, machine } = this.#world
    if (disk.find(folder)!.node.mtime !== changedAt || machine.offset < offset) return false
    return (
      this.#holdsNothing(folder) || this.#known(folder).some(file => this.#isAsKnown(file, folder, isBack))
    )
  }

  /**
   * Whether the copy lacks a picture that may be on the host: it has an image, or its upload is in doubt. A picture that was
   * never sent has no image that could be deleted.
   */
  #lacksAny({ lacks, changedAt }: Copy): boolean {
    const { disk, mirrors, state } = this.#world
    return lacks.some(at => {
      const row = rowAt(state.synced, mirrors, at)
      if (row === undefined) return false
      const there = disk.find(at)
      if (there) return this.#isOlder(there.node, row, changedAt)
      return row.image !== null || state.synced.journal.openOnFile(row).length > 0
    })
  }

  /** Whether this is an older version of a picture that was written, and sent, after the copy was made. */
  #isOlder(node: Node, row: FileRow, changedAt: number): boolean {
    const { images, journal } = this.#world.state.synced
    const image = row.image === null ? undefined : images.byId(row.image)
    const inDoubt = journal.openOnFile(row).map(({ hash, since }) => ({ hash, at: since }))
    const sent = inDoubt.at(-1) ?? (image && { hash: image.hash, at: image.recorded_at })
    if (node.kind !== 'file' || node.bytes.length === 0 || sent === undefined) return false
    const isAnother = sent.hash.toString('hex') !== node.hash && node.mtime < row.mtime
    return isAnother && row.mtime > changedAt && sent.at * 1000 > changedAt
  }

  /** Nothing that is mirrored: folders, and what is hidden or ignored, at most. */
  #holdsNothing(folder: string): boolean {
    const { disk, mirrors } = this.#world
    return [...disk.below(folder)].every(
      ([at, { kind }]) =>
        kind === 'folder' ||
        (kind === 'file' && (split(at).name.startsWith('.') || isIgnored(disk, mirrors, at))),
    )
  }

  /** Whether most recorded pictures are as albumd knew them, also those that went and whose image still waits. */
  #areMostAsKnown(root: string): boolean {
    const known = this.#known(root).filter(({ state }) => state !== 'kept')
    return known.filter(file => this.#isThere(file, file)).length * 2 > known.length
  }

  /** What albumd has records of, at and below a folder. */
  #known(path: string): FileRow[] {
    const { mirrors, state } = this.#world
    const folder = folderAt(state.synced, mirrors, path)
    return folder ? [...state.synced.files.below(folder.mirror, folder.path)] : []
  }

  /**
   * Whether the picture is in the folder as albumd saw it last, or as it was sent. `isBack`: it may have gone with its folder.
   */
  #isAsKnown(file: FileRow, folder: string, isBack: boolean): boolean {
    if (file.state === 'kept' || (file.state === 'gone' && !isBack)) return false
    const sent = file.image === null ? undefined : this.#world.state.synced.images.byId(file.image)
    const asSent = { size: sent?.size ?? file.size, mtime: sent?.mtime ?? file.mtime }
    return [file, asSent].some(version => this.#isThere(file, version) || this.#isIn(folder, version))
  }

  #isIn(folder: string, { size, mtime }: Version): boolean {
    const { disk, mirrors } = this.#world
    return [...livePictures(disk, mirrors)].some(
      ({ path, node }) =>
        path.startsWith(`${folder}/`) &&
        node.bytes.length === size &&
        node.mtime === mtime &&
        !isIgnored(disk, mirrors, path),
    )
  }

  #isThere(file: FileRow, { size, mtime }: Version): boolean {
    const { disk, state } = this.#world
    const node = disk.find(pathOfRow(state.synced, file))?.node
    return node?.kind === 'file' && node.bytes.length === size && node.mtime === mtime
  }

  /** The closest folder above that is there. */
  #folderAbove(path: string): string {
    const { folder } = split(path)
    return this.#world.disk.find(folder)?.node.kind === 'folder' ? folder : this.#folderAbove(folder)
  }
}
