import type { FileRow } from '../../../src/synced/tables/files.ts'
import { livePictures } from '../disk/live-pictures.ts'
import { type Node, split, versionOfHash } from '../disk/tree.ts'
import { folderAt, pathOfRow, rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'

interface Copy {
  /** Since which moment of the disk the copy is there. */
  since: number
  /** The paths of what was there before and is not in the copy, or in another version. */
  lacks: string[]
  /** The time of the folder's last change when the copy came. */
  changedAt: number
  /** Albumd has looked at the folder since. */
  wasSeen: boolean
  /** What may be on the host of what a folder lacked when albumd first looked at it, and knew that it was another one. */
  lost: [at: string, row: FileRow][]
}

type Surroundings = Pick<World, 'disk' | 'doubts' | 'mirrors' | 'state'>

/** Older copies in the places of roots and folders. Only what is there and recorded at albumd's look can show one. */
export class Copies {
  readonly #world: Surroundings
  /** By the root or the folder of a copy that lacks something. */
  readonly #copies = new Map<string, Copy>()

  constructor(world: Surroundings) {
    this.#world = world
  }

  /** An older copy is in the place of a root or a folder. */
  put(path: string, lacks: readonly string[]): void {
    const { disk, mirrors } = this.#world
    this.forget(path)
    const since = disk.happens()
    const isRoot = mirrors.some(({ folder }) => folder === path)
    const places = isRoot ? [[path, lacks] as const] : Map.groupBy(lacks, at => this.#folderAbove(at))
    for (const [place, lacked] of places) {
      const changedAt = disk.find(place)!.node.mtime
      this.#copies.set(place, { since, lacks: [...lacked], changedAt, wasSeen: false, lost: [] })
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

  /** One that lacks nothing and holds most pictures is taken: at the first look, or at any while the root is in doubt. */
  #lookAtRoot(root: string, copy: Copy): void {
    if (copy.wasSeen && this.#world.state.synced.mirrors.of(root)?.guard_code !== 'ROOT') return
    copy.wasSeen = true
    const { known, there } = this.#areAsKnown(root)
    if (this.#lacksAny(copy) || there * 2 <= known) return
    this.#world.doubts.otherRoot.delete(root)
    this.#copies.delete(root)
  }

  /** The first look decides, until the pictures are there again or a person trusts the folder. A folder without a picture that
   * is just as recorded passes for one made anew: nobody can tell. */
  #lookAtFolder(folder: string, copy: Copy): void {
    const { doubts } = this.#world
    if (!copy.wasSeen && this.#isOther(folder) && this.#areAsKnown(folder).there > 0)
      copy.lost = copy.lacks.flatMap(at => this.#heldAt(at))
    copy.wasSeen = true
    const isLost = ([at, row]: Copy['lost'][number]) =>
      !this.#isSomewhere(at, row) && this.#mayBeOnHost(this.#rowAt(at) ?? row)
    if (copy.lost.some(isLost)) doubts.lostMount.set(folder, copy.since)
    else doubts.lostMount.delete(folder)
  }

  #isOther(folder: string): boolean {
    const { disk, mirrors, state } = this.#world
    const known = folderAt(state.synced, mirrors, folder)?.birthtime ?? 0
    const { birthtime } = disk.find(folder)!.node
    return known !== 0 && birthtime !== 0 && birthtime !== known
  }

  #heldAt(at: string): Copy['lost'] {
    const row = this.#rowAt(at)
    const isGone = row === undefined || ['gone', 'kept', 'hidden'].includes(row.state)
    return !isGone && this.#mayBeOnHost(row) ? [[at, row]] : []
  }

  #rowAt(at: string): FileRow | undefined {
    return rowAt(this.#world.state.synced, this.#world.mirrors, at)
  }

  /** Whether a picture, or one of its size and time, is on the disk. */
  #isSomewhere(at: string, { mtime, size }: FileRow): boolean {
    const { disk, mirrors } = this.#world
    const isLike = ({ node }: { node: { mtime: number; bytes: Buffer } }) =>
      node.mtime === mtime && node.bytes.length === size
    return disk.find(at) !== null || [...livePictures(disk, mirrors)].some(isLike)
  }

  /** An upload in doubt may turn out never to have arrived. */
  #mayBeOnHost(row: FileRow): boolean {
    return row.image !== null || this.#world.state.synced.journal.openOnFile(row).length > 0
  }

  /** It lacks a picture that may be on the host: one with an image, or with an upload in doubt. */
  #lacksAny({ lacks, changedAt }: Copy): boolean {
    const { disk } = this.#world
    return lacks.some(at => {
      const row = this.#rowAt(at)
      if (row === undefined) return false
      const there = disk.find(at)
      return there ? this.#isOlder(there.node, row, changedAt) : this.#mayBeOnHost(row)
    })
  }

  /** Whether this is an older version of a picture that was written, and sent, after the copy was made. */
  #isOlder(node: Node, row: FileRow, changedAt: number): boolean {
    const { images, journal } = this.#world.state.synced
    const image = row.image === null ? undefined : images.byId(row.image)
    const inDoubt = journal.openOnFile(row).map(({ hash, since }) => ({ hash, at: since }))
    const sent = inDoubt.at(-1) ?? (image && { hash: image.hash, at: image.recorded_at })
    if (node.kind !== 'file' || node.bytes.length === 0 || sent === undefined) return false
    const isAnother = versionOfHash(sent.hash) !== node.hash && node.mtime < row.mtime
    return isAnother && row.mtime > changedAt && sent.at * 1000 > changedAt
  }

  /** How many recorded pictures of a folder are as albumd knew them, also those that went and whose image still waits. */
  #areAsKnown(path: string): { known: number; there: number } {
    const { disk, mirrors, state } = this.#world
    const folder = folderAt(state.synced, mirrors, path)
    const known = (folder ? [...state.synced.files.below(folder.mirror, folder.path)] : []).filter(
      file => file.state !== 'kept',
    )
    const isThere = (file: FileRow) => {
      const node = disk.find(pathOfRow(state.synced, file))?.node
      return node?.kind === 'file' && node.bytes.length === file.size && node.mtime === file.mtime
    }
    return { known: known.length, there: known.filter(isThere).length }
  }

  /** The closest folder above that is there. */
  #folderAbove(path: string): string {
    const { folder } = split(path)
    return this.#world.disk.find(folder)?.node.kind === 'folder' ? folder : this.#folderAbove(folder)
  }
}
