import { dirname } from 'node:path'
import type { Random } from '../histories/random.ts'
import {
  CHANGE,
  DATA_SYNC,
  type Entry,
  FOLDER,
  OPEN,
  REMOVE,
  RENAME,
  RESIZE,
  SYNC,
  SYNC_BEGINS,
  WRITE,
} from './disk-record.ts'

/** A file or a folder, whatever its name. */
interface Node {
  ino: number
  /** What it holds when the record begins. */
  bytes: Buffer
  /** Its ctime, as a number that only grows; the first is that of the record's begin. */
  changes: { at: number; ctime: number }[]
}

/** What may be lost by itself. Its place in the list is its moment. */
type Op =
  | { kind: 'names'; folder: Node; names: [path: string, node: Node | null][] }
  | { kind: 'write'; node: Node; at: number; bytes: Buffer }
  | { kind: 'resize'; node: Node; size: number }
  | { kind: 'times'; node: Node }
  | { kind: 'sync'; node: Node; since: number; times: boolean }

/** What lies on a disk: by path, below the folder that is recorded; '' is that folder. */
export type Names = ReadonlyMap<string, Node>

const SHARED_MEMORY = /-shm$/
const SECTOR = 512
const PAGE = 4096

/** inode numbers and ctimes that no other file of this process has. */
let last = 1_000_000

/** The files below a folder from one start of the machine to its end, and what a power cut leaves of them. Two kinds of file
 * systems are played. With a journal, as ext4 and XFS have one, names, sizes and times become lasting in the order in which
 * they changed, and each fsync makes all earlier ones lasting. Without one, each file and each folder is by itself, as POSIX
 * has it: fsync of a file makes its bytes, size and times lasting, fsync of a folder the names in it, and fdatasync a file's
 * bytes and size. The names in a folder change in their order. With both kinds, bytes that were not synced are there or not,
 * each page or each sector by itself, in any order, and a file may have become longer without them. */
export class RecordedDisk {
  readonly ops: Op[] = []
  readonly #home: string
  readonly #first: Names
  readonly #names: Map<string, Node>
  readonly #open = new Map<number, Node>()
  readonly #begun = new Map<number, number>()
  /** Whether fdatasync is believed; false: a disk that forgets what it has promised. */
  readonly #lasting: boolean

  constructor(home: string, names: Names | null, lasting = true) {
    this.#home = home
    this.#first = names ?? new Map([['', made(0)]])
    this.#names = new Map(this.#first)
    this.#lasting = lasting
  }

  take(entries: readonly Entry[]): void {
    for (const entry of entries) this.#take(entry)
  }

  /** Inode and ctime of a file, as this disk has them. */
  stat(path: string): { ino: number; ctime: number } | null {
    const node = this.#at(path)
    return node ? { ino: node.ino, ctime: node.changes.at(-1)!.ctime } : null
  }

  #below(path: string): string | null {
    if (path === this.#home) return ''
    return path.startsWith(`${this.#home}/`) ? path.slice(this.#home.length + 1) : null
  }

  #take(entry: Entry): void {
    const { kind, fd, number, path, bytes } = entry
    if (kind === OPEN) this.#opened(fd, number, this.#below(path))
    else if (kind === RENAME || kind === REMOVE || kind === FOLDER) this.#named(entry)
    else {
      const node = fd >= 0 ? this.#open.get(fd) : this.#at(path)
      if (!node) return
      if (kind === SYNC_BEGINS) this.#begun.set(fd, this.ops.length)
      else if (kind === SYNC || (kind === DATA_SYNC && this.#lasting))
        this.ops.push({ kind: 'sync', node, since: this.#begun.get(fd)!, times: kind === SYNC })
      else if (kind === WRITE) this.#add({ kind: 'write', node, at: number, bytes })
      else if (kind === RESIZE) this.#add({ kind: 'resize', node, size: number })
      else if (kind === CHANGE) this.#add({ kind: 'times', node })
    }
  }

  #at(path: string): Node | undefined {
    const below = this.#below(path)
    return below === null ? undefined : this.#names.get(below)
  }

  #opened(fd: number, how: number, path: string | null): void {
    this.#open.delete(fd)
    if (path === null || SHARED_MEMORY.test(path)) return
    let node = this.#names.get(path)
    if (!node) {
      node = made(this.ops.length)
      this.#name([[path, node]])
    } else if (how === 2) this.#add({ kind: 'resize', node, size: 0 })
    this.#open.set(fd, node)
  }

  #named({ kind, path: absolute, to }: Entry): void {
    const path = this.#below(absolute)
    if (path === null || SHARED_MEMORY.test(path)) return
    if (kind === FOLDER) this.#name([[path, made(this.ops.length)]])
    else if (kind === REMOVE) this.#name([[path, null]])
    else {
      const node = this.#names.get(path)!
      this.#name([
        [path, null],
        [this.#below(to)!, node],
      ])
      this.#touch(node)
    }
  }

  #name(names: [string, Node | null][]): void {
    const folder = this.#names.get(folderOf(names[0]![0]))!
    for (const [path, node] of names) {
      if (node) this.#names.set(path, node)
      else this.#names.delete(path)
    }
    this.ops.push({ kind: 'names', folder, names })
  }

  #add(op: Op & { node: Node }): void {
    this.ops.push(op)
    this.#touch(op.node)
  }

  #touch(node: Node): void {
    node.changes.push({ at: this.ops.length - 1, ctime: ++last })
  }

  /** What a kill leaves: everything. */
  whole(): Names {
    return this.#left(this.ops.length, { journaled: true, cut: (_, end) => end, torn: false, random: null })
  }

  /** What is left when the power is cut after so many ops. `how`: for people. */
  afterCut(end: number, random: Random): { left: Names; how: string } {
    const lost = random.pick(['nothing', 'all', 'some', 'some'] as const)
    const journaled = random.chance(0.5)
    const torn = random.chance(0.5)
    const cut = (since: number, end: number) => {
      if (lost === 'nothing') return end
      if (lost === 'all') return since
      return random.pick([since, end, since + random.below(end - since + 1)])
    }
    const left = this.#left(end, { journaled, torn, random, cut })
    const how = `${lost} of what was not synced is lost, ${journaled ? 'with' : 'without'} a journal`
    return { left, how }
  }

  #left(end: number, { journaled, torn, cut, random }: Loss): Names {
    const ops = this.ops.slice(0, end)
    const syncs = ops.flatMap(op => (op.kind === 'sync' ? [op] : []))
    const syncedTo = (is: (sync: (typeof syncs)[0]) => boolean) =>
      Math.max(0, ...syncs.filter(is).map(({ since }) => since))
    const journal = cut(
      syncedTo(({ times }) => times),
      end,
    )
    /** Up to which op the names in a folder, or the times of a file, are there. */
    const known = memo((node: Node) =>
      journaled
        ? journal
        : cut(
            syncedTo(sync => sync.times && sync.node === node),
            end,
          ),
    )
    const names = new Map(this.#first)
    for (const [at, op] of ops.entries())
      if (op.kind === 'names' && at < known(op.folder))
        for (const [path, node] of op.names) {
          if (node) names.set(path, node)
          else names.delete(path)
        }
    const left = new Map<Node, Node>()
    for (const node of new Set(names.values())) {
      const synced = syncedTo(sync => sync.node === node)
      const { ctime } = node.changes.findLast(({ at }) => at < known(node)) ?? node.changes[0]!
      const bytes = bytesOf(node, ops, synced, { end, cut, torn, random })
      left.set(node, { ino: node.ino, bytes, changes: [{ at: 0, ctime }] })
    }
    // What lies in a folder whose own name was lost is lost with it.
    const isThere = (path: string): boolean =>
      path === '' || (names.has(folderOf(path)) && isThere(folderOf(path)))
    return new Map(
      [...names].filter(([path]) => isThere(path)).map(([path, node]) => [path, left.get(node)!]),
    )
  }
}

interface Loss {
  journaled: boolean
  torn: boolean
  /** The op up to which something is there, between the last that is synced and the end. */
  cut: (since: number, end: number) => number
  random: Random | null
}

function made(at: number): Node {
  return { ino: ++last, bytes: Buffer.alloc(0), changes: [{ at, ctime: ++last }] }
}

function folderOf(path: string): string {
  const folder = dirname(path)
  return folder === '.' ? '' : folder
}

/** The bytes of a file, of which those before op `synced` are lasting. */
function bytesOf(
  node: Node,
  ops: readonly Op[],
  synced: number,
  { end, cut, torn, random }: Omit<Loss, 'journaled'> & { end: number },
): Buffer {
  const part = torn ? SECTOR : PAGE
  /** Up to which op each part of the file is there, and its size. */
  const known = memo((_: number) => cut(synced, end))
  const sized = cut(synced, end)
  const isSized = (at: number) => at < synced || at < sized
  let bytes = Buffer.from(node.bytes)
  let size = bytes.length
  for (const [at, op] of ops.entries()) {
    if (op.kind === 'resize' && op.node === node && isSized(at)) {
      size = op.size
      bytes = resized(bytes, size)
    } else if (op.kind === 'write' && op.node === node) {
      if (isSized(at)) size = Math.max(size, op.at + op.bytes.length)
      bytes = written(bytes, op, part, of => at < synced || at < known(of))
    }
  }
  // A file system may write the bytes before the size, or the size before the bytes.
  const isLonger = bytes.length > size && (random === null || random.chance(0.7))
  return isLonger ? bytes : resized(bytes, size)
}

function resized(bytes: Buffer, size: number): Buffer<ArrayBuffer> {
  const to = Buffer.alloc(size)
  bytes.copy(to)
  return to
}

/** Writes into these bytes, or into longer ones. `isThere`: whether a part of the file has been written. */
function written(
  bytes: Buffer<ArrayBuffer>,
  write: { at: number; bytes: Buffer },
  part: number,
  isThere: (part: number) => boolean,
): Buffer<ArrayBuffer> {
  const end = write.at + write.bytes.length
  let to = bytes
  for (let from = write.at; from < end; ) {
    const of = Math.floor(from / part)
    const until = Math.min(end, (of + 1) * part)
    if (isThere(of)) {
      if (until > to.length) to = resized(to, until)
      write.bytes.copy(to, from, from - write.at, until - write.at)
    }
    from = until
  }
  return to
}

function memo<K, V>(find: (key: K) => V): (key: K) => V {
  const found = new Map<K, V>()
  return key => {
    if (!found.has(key)) found.set(key, find(key))
    return found.get(key)!
  }
}
