import { RESTORE_FOLDER } from '../../../src/local/look.ts'
import { type FileNode, type FolderNode, type Mount, type Node, split } from '../disk/tree.ts'
import { folderAt, rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'

type Surroundings = Pick<
  World,
  'copies' | 'disk' | 'looks' | 'doubts' | 'mirrors' | 'passes' | 'random' | 'state'
>

/** The mirrors' trees as people have them before them, with the roots and disks that come and go. */
export class Tree {
  readonly #world: Surroundings
  readonly #runs: () => boolean
  readonly #away = new Map<string, Node | Mount>()
  readonly #subMounts = new Map<string, Mount>()
  /** Folders over which another disk is mounted. */
  readonly #hidden = new Set<string>()
  /** Older copies of folders, by the folders' paths. */
  readonly #copies = new Map<string, FolderNode>()
  /** What had, or might get, an image in folders that were taken away. */
  readonly #aside = new Map<string, { held: [path: string, node: Node][]; changedAt: number | null }>()

  constructor(world: Surroundings, runs: () => boolean) {
    this.#world = world
    this.#runs = runs
  }

  /** A disk that is to be mounted at this folder. */
  addSubMount(path: string, mount: Mount): void {
    this.#subMounts.set(path, mount)
  }

  fileAt(path: string): FileNode | null {
    const node = this.#world.disk.find(path)?.node
    return node?.kind === 'file' ? node : null
  }

  /** Everything below the roots that are not away. */
  everything(): string[] {
    const on = this.#world.mirrors.filter(({ folder }) => this.isOn(folder))
    return on.flatMap(({ folder }) => [...this.#world.disk.below(folder)].map(([path]) => path))
  }

  /** Without ignore files. */
  files(): string[] {
    return this.everything().filter(path => this.fileAt(path) && !path.includes('/.'))
  }

  folders(): string[] {
    const isFolder = (path: string) => this.#world.disk.find(path)!.node.kind === 'folder'
    return this.everything().filter(path => !path.includes('/.') && isFolder(path))
  }

  /** All trouble with the disk is over. */
  calm(): void {
    for (const { folder } of this.#world.mirrors) this.bringBack(folder)
    this.mountSubs()
    const roots = this.#world.mirrors.map(({ folder }) => folder)
    for (const path of [...roots, ...this.everything()]) this.#world.disk.setReadable(path, true)
    // A restore that was killed, and whose root was away when it was to end.
    for (const path of this.everything())
      if (split(path).name === RESTORE_FOLDER) this.#world.disk.remove(path)
  }

  isOn(path: string): boolean {
    return !this.#away.has(`/${path.split('/')[1]}`)
  }

  takeOff(folder: string): void {
    const { disk } = this.#world
    this.#away.set(folder, disk.mountAt(folder) ? disk.mount(folder, null)! : disk.takeAway(folder)!)
    // A mirror without records takes any root for its own.
    const { doubts } = this.#world
    if (doubts.heldPictures(folder)) doubts.otherRoot.set(folder, disk.happens())
  }

  bringBack(folder: string): void {
    const what = this.#away.get(folder)
    if (!what) return
    this.#away.delete(folder)
    this.#world.doubts.otherRoot.delete(folder)
    this.#world.copies.forget(folder)
    if ('dev' in what) this.#world.disk.mount(folder, what, this.#world.random.chance(0.5))
    else {
      if (this.#world.disk.find(folder)) this.#world.disk.takeAway(folder)
      this.#world.disk.putBack(folder, what)
    }
  }

  /** As a backup does. */
  saveCopy(path: string): void {
    const { disk } = this.#world
    const node = disk.find(path)?.node
    if (node?.kind === 'folder') this.#copies.set(path, disk.copy(node))
  }

  /**
   * Takes a folder away, for an older copy to come. `isFilled`: with an empty folder in it. Returns whether it was there.
   */
  takeAside(path: string, isFilled: boolean): boolean {
    const { copies, disk } = this.#world
    if (!this.isOn(path) || !disk.find(path) || this.#isMounted(path)) return false
    const held = this.#held(path)
    copies.forget(path)
    disk.takeAway(path)
    if (isFilled) disk.makeFolder(`${path}/d`)
    this.#aside.set(path, { held, changedAt: this.#changedAt(path) })
    return true
  }

  /** Puts the older copy in the place of a folder, or of one that was taken away. Answers whether there was one. */
  putCopy(path: string): boolean {
    const { copies, disk, mirrors } = this.#world
    const saved = this.#copies.get(path)
    const isThere = disk.find(path) !== null
    const aside = this.#aside.get(path)
    const isBack = aside !== undefined && (!isThere || aside.changedAt === this.#changedAt(path))
    const isRoot = mirrors.some(({ folder }) => folder === path)
    if (!saved || !(isThere || isBack) || !this.isOn(path) || (!isRoot && this.#isMounted(path))) return false
    const before = isBack ? aside.held : this.#held(path)
    if (isRoot) this.takeOff(path)
    else if (isThere) disk.takeAway(path)
    this.#aside.delete(path)
    disk.putBack(path, saved)
    const isLacking = ([at, node]: [string, Node]) => disk.find(at)?.node.mtime !== node.mtime
    const lacks = before.filter(isLacking).map(([at]) => at)
    copies.put(path, lacks)
    return true
  }

  #changedAt(path: string): number | null {
    return this.#world.disk.find(path)?.node.mtime ?? null
  }

  #held(path: string): [string, Node][] {
    return [...this.#world.disk.below(path)].filter(([at]) => this.#mayHaveImage(at))
  }

  /** Whether a disk is mounted at a folder or below it. Nobody can move a mount point. */
  #isMounted(path: string): boolean {
    const { disk } = this.#world
    return [path, ...[...disk.below(path)].map(([at]) => at)].some(at => disk.mountAt(at))
  }

  unmountSub(path: string): void {
    const mount = this.#world.disk.mount(path, null)
    if (!mount) return
    this.#subMounts.set(path, mount)
    if (this.#wasLookedAt(path) && this.#runs())
      this.#world.doubts.lostMount.set(path, this.#world.disk.happens())
  }

  /** A look that the process did not live to record is none, nor is one that was refused. */
  #wasLookedAt(path: string): boolean {
    if (this.#world.looks.readAt(path) === 0) return false
    const record = this.#recordOf(path)
    return record !== undefined && (record.digest !== null || record.mount === 1)
  }

  #isRecordedMount(path: string): boolean {
    return this.#recordOf(path)?.mount === 1
  }

  #recordOf(path: string) {
    return folderAt(this.#world.state.synced, this.#world.mirrors, path)
  }

  /** Hides what lies in a folder. Whether that is in doubt hangs on what was known to lie there. */
  mountOver(path: string): void {
    const { disk, doubts } = this.#world
    const isKnown = [...disk.below(path)].some(([at]) => this.#hasImage(at))
    disk.mount(path, disk.newMount())
    this.#hidden.add(path)
    if (isKnown) doubts.lostMount.set(path, disk.happens())
  }

  #hasImage(path: string): boolean {
    return (this.#rowAt(path)?.image ?? null) !== null
  }

  /** Whether an image of the picture is recorded, or may come: its upload is in doubt, or may be under way at this moment. */
  #mayHaveImage(path: string): boolean {
    const { passes, state } = this.#world
    const row = this.#rowAt(path)
    if (row === undefined) return false
    const isInDoubt = state.synced.journal.openOnFile(row).length > 0
    return row.image !== null || isInDoubt || (passes.isUnderWay && row.state === 'pending')
  }

  #rowAt(path: string) {
    return rowAt(this.#world.state.synced, this.#world.mirrors, path)
  }

  #unhide(path: string): void {
    if (!this.isOn(path)) return
    this.#hidden.delete(path)
    const { disk, doubts } = this.#world
    if (!disk.mountAt(path)) return
    doubts.lostMount.delete(path)
    if (this.#wasLookedAt(path) && this.#isRecordedMount(path)) doubts.lostMount.set(path, disk.happens())
    disk.mount(path, null)
  }

  /** What was mounted is mounted again, and what was mounted over folders is no more. */
  mountSubs(): void {
    for (const path of [...this.#hidden]) this.#unhide(path)
    for (const [path, mount] of this.#subMounts) {
      if (!this.isOn(path)) continue
      if (this.#world.disk.find(path)?.node.kind !== 'folder') {
        if (this.#world.disk.find(path)) this.#world.disk.remove(path)
        this.#world.disk.makeFolder(path)
      }
      this.#world.disk.mount(path, mount)
      this.#subMounts.delete(path)
      this.#world.doubts.lostMount.delete(path)
    }
  }
}
