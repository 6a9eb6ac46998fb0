import type { MachineClock, Timeline } from '../engine/virtual-clock.ts'
import { PLAIN_SETTING } from '../histories/setting.ts'
import {
  diskError,
  type FileNode,
  type FolderNode,
  type Found,
  type LinkNode,
  type Mount,
  type Node,
  split,
  upwards,
  versionOf,
} from './tree.ts'

/** Which bytes every path has ever held, and when each was last changed: for the oracle. */
export class DiskHistory {
  /** Counts all that happens, for what was before what. */
  #moment = 1
  readonly #changed = new Map<string, number>()
  readonly #changedIn = new Map<string, number>()
  /** In the order in which they were held last. */
  readonly #held = new Map<string, Set<string>>()
  /** The folders (and roots) that watchers would have told of since they were last asked. */
  readonly stale = new Set<string>()

  /** What just happened comes after all that happened before. */
  happens(): number {
    return ++this.#moment
  }

  changedAt(path: string): number {
    let at = 0
    for (const above of upwards(path)) at = Math.max(at, this.#changed.get(above) ?? 0)
    return at
  }

  /** When something directly in a folder last came, went or changed. */
  changedIn(folder: string): number {
    return Math.max(this.changedAt(folder), this.#changedIn.get(folder) ?? 0)
  }

  everHeld(path: string, hash: string): boolean {
    return this.#held.get(path)?.has(hash) ?? false
  }

  lastHeld(path: string): string | undefined {
    return [...(this.#held.get(path) ?? [])].at(-1)
  }

  /** Every path that ever held something. */
  paths(): Iterable<string> {
    return this.#held.keys()
  }

  /** A path has changed, with all below it. */
  protected note(path: string, node: Node | null, below: Iterable<[string, Node]>): void {
    this.#changed.set(path, this.happens())
    this.#changedIn.set(split(path).folder, this.#moment)
    this.stale.add(split(path).folder || path)
    if (node?.kind === 'folder') this.stale.add(path)
    this.#holds(path, node)
    for (const [at, child] of below) this.#holds(at, child)
  }

  #holds(path: string, node: Node | null): void {
    if (node?.kind !== 'file') return
    const held = this.#held.get(path) ?? new Set()
    held.delete(node.hash)
    this.#held.set(path, held.add(node.hash))
  }
}

const NONE: ReadonlySet<string> = new Set()

/** A disk in memory, as people change it. Paths are absolute; the mirrors' roots lie directly below `/`. */
export class VirtualDisk extends DiskHistory {
  readonly #time: Timeline
  readonly #clock: MachineClock
  readonly #root: FolderNode
  #inodes = 100
  #devices = 1
  /** Freed inodes are given again, as ext4 does. */
  readonly #free: number[] = []
  readonly #mounts = new Set<string>()
  /** A kernel, or its file system, stamps with its last tick. */
  readonly #tickUs: number
  readonly #listsMounts: boolean
  readonly #birthTimes: boolean

  constructor(time: Timeline, clock: MachineClock, { tickMs, mountsListed, birthTimes } = PLAIN_SETTING) {
    super()
    this.#tickUs = tickMs * 1000
    this.#listsMounts = mountsListed
    this.#birthTimes = birthTimes
    this.#time = time
    this.#clock = clock
    this.#root = this.#folder()
  }

  /** What is at a path, what is mounted there included; null where nothing is. Permissions are not asked. */
  find(path: string): Found | null {
    let found: Found = { node: this.#root, dev: 1 }
    for (const name of path.split('/')) {
      if (name === '') continue
      const child = found.node.kind === 'folder' ? found.node.children.get(name) : undefined
      if (!child) return null
      found = { node: child, dev: found.dev }
      if (child.kind === 'folder' && child.mount) found = { node: child.mount.root, dev: child.mount.dev }
    }
    return found
  }

  /** Every path below `path` (itself left out) with its node, folders before what they hold. */
  *below(path: string): Generator<[string, Node]> {
    const node = this.find(path)?.node
    if (node?.kind !== 'folder') return
    for (const name of [...node.children.keys()].sort()) {
      const child = `${path}/${name}`
      yield [child, this.find(child)!.node]
      yield* this.below(child)
    }
  }

  makeFolder(path: string): void {
    if (this.find(path)) return
    const { folder } = split(path)
    if (folder !== '') this.makeFolder(folder)
    this.#put(path, this.#folder())
  }

  /** Writes into the file that is there, or makes one. `mtime`: what it is set to; left out: now. */
  write(path: string, bytes: Buffer, how: { inPlace?: boolean; mtime?: number } = {}): FileNode {
    const there = this.find(path)?.node
    if (how.inPlace && there?.kind === 'file') {
      there.bytes = bytes
      there.hash = versionOf(bytes)
      this.#stamp(there)
      there.mtime = how.mtime ?? there.ctime
      this.#note(path, there)
      return there
    }
    if (there) this.remove(path)
    const now = this.#now()
    const file: FileNode = {
      ...this.#common(now),
      kind: 'file',
      bytes,
      hash: versionOf(bytes),
      stampedAt: this.#time.now,
    }
    file.mtime = how.mtime ?? now
    this.#put(path, file)
    return file
  }

  /** Whoever has a file open writes into it, wherever it is by then. */
  writeInto(file: FileNode, bytes: Buffer): void {
    file.bytes = bytes
    file.hash = versionOf(bytes)
    this.#stamp(file)
    file.mtime = file.ctime
    for (const [path, node] of this.below('')) if (node === file) this.#note(path, file)
  }

  link(path: string): void {
    if (this.find(path)) this.remove(path)
    this.#put(path, { ...this.#common(this.#now()), kind: 'link' } satisfies LinkNode)
  }

  remove(path: string): void {
    const { folder, name } = split(path)
    const parent = this.#folderAt(folder)
    const node = parent.children.get(name)
    if (!node) return
    if (node.kind === 'file') this.#free.push(node.ino)
    parent.children.delete(name)
    parent.mtime = this.#now()
    this.#note(path, null)
  }

  /** As rename(2): what was at `to` is gone. Nothing happens where there is nothing to rename, or a mount in its way. */
  rename(from: string, to: string): void {
    const source = this.#raw(from)
    if (!source || from === to || `${to}/`.startsWith(`${from}/`)) return
    if (hasMount(source) || hasMount(this.#raw(to))) return
    const { folder, name } = split(from)
    const parent = this.#folderAt(folder)
    parent.children.delete(name)
    parent.mtime = this.#now()
    this.#note(from, null)
    if (source.kind === 'file') this.#stamp(source)
    this.#put(to, source)
  }

  swap(one: string, other: string): void {
    if (hasMount(this.#raw(one)) || hasMount(this.#raw(other))) return
    const aside = `${split(one).folder}/.aside`
    this.rename(one, aside)
    this.rename(other, one)
    this.rename(aside, other)
  }

  setReadable(path: string, readable: boolean): void {
    const node = this.find(path)?.node
    if (!node || node.readable === readable) return
    node.readable = readable
    node.ctime = this.#now()
    this.#note(path, node)
  }

  /** A new disk with an empty folder for a root, or (`dev`) another folder of a disk that is there. */
  newMount(dev = ++this.#devices): Mount {
    return { dev, root: this.#folder() }
  }

  /** As the system lists them, where it does. */
  mountPoints(folder: string): ReadonlySet<string> {
    if (!this.#listsMounts) return NONE
    const below = [...this.#mounts].filter(path => path.startsWith(`${folder}/`) && this.mountAt(path))
    return new Set(below.map(path => path.slice(folder.length + 1)))
  }

  /** Mounts over a folder, or (null) shows again what lies below. A device may have another number by then. */
  mount(path: string, mount: Mount | null, newNumber = false): Mount | null {
    const node = this.#raw(path)
    if (node?.kind !== 'folder') return null
    const before = node.mount
    if (mount && newNumber) mount.dev = ++this.#devices
    node.mount = mount
    this.#mounts.add(path)
    this.#note(path, this.find(path)!.node)
    return before
  }

  mountAt(path: string): Mount | null {
    const node = this.#raw(path)
    return node?.kind === 'folder' ? node.mount : null
  }

  /** Takes a folder away with all it holds, to be put back by `putBack`. */
  takeAway(path: string): Node | null {
    const node = this.#raw(path)
    const { folder, name } = split(path)
    const parent = this.#folderAt(folder)
    parent.children.delete(name)
    parent.mtime = this.#now()
    this.#note(path, null)
    return node
  }

  putBack(path: string, node: Node): void {
    this.#put(path, node)
  }

  /** The same files with their times, as a backup restores them: other inodes. */
  copy(node: FolderNode): FolderNode {
    const copied = this.#folder()
    for (const [name, child] of node.children) {
      if (child.kind === 'folder') copied.children.set(name, this.copy(child.mount?.root ?? child))
      else {
        const anew = { ...this.#common(this.#now()), mtime: child.mtime }
        copied.children.set(
          name,
          child.kind === 'file' ? { ...child, ...anew, stampedAt: this.#time.now } : { ...child, ...anew },
        )
      }
    }
    return copied
  }

  #raw(path: string): Node | null {
    const { folder, name } = split(path)
    const parent = folder === '' ? this.#root : this.find(folder)?.node
    return (parent?.kind === 'folder' && parent.children.get(name)) || null
  }

  #put(path: string, node: Node): void {
    const { folder, name } = split(path)
    const parent = this.#folderAt(folder)
    parent.children.set(name, node)
    parent.mtime = this.#now()
    this.#note(path, node)
  }

  #folderAt(path: string): FolderNode {
    const node = path === '' ? this.#root : this.find(path)?.node
    if (node?.kind !== 'folder') throw diskError('ENOTDIR', path)
    return node
  }

  #note(path: string, node: Node | null): void {
    this.note(path, node, node?.kind === 'folder' ? this.below(path) : [])
  }

  #stamp(file: FileNode): void {
    const before = file.ctime
    file.ctime = this.#now()
    // A clock that was set back does not hit the very tick of another time.
    const ago = (this.#time.now - file.stampedAt) * 1000
    if (file.ctime === before && ago > this.#tickUs * 2.5) file.ctime += this.#tickUs
    file.stampedAt = this.#time.now
  }

  #now(): number {
    return Math.floor((this.#clock.wall() * 1000) / this.#tickUs) * this.#tickUs
  }

  #common(now: number) {
    const ino = this.#free.pop() ?? ++this.#inodes
    return { ino, mtime: now, ctime: now, birthtime: this.#birthTimes ? now : 0, readable: true }
  }

  #folder(): FolderNode {
    const now = this.#now()
    const ino = ++this.#inodes
    const times = { ino, mtime: now, ctime: now, birthtime: this.#birthTimes ? now : 0, readable: true }
    return { ...times, kind: 'folder', children: new Map(), mount: null }
  }
}

function hasMount(node: Node | null): boolean {
  if (node?.kind !== 'folder') return false
  return node.mount !== null || [...node.children.values()].some(hasMount)
}
