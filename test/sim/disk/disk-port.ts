import type { Disk, DiskStat } from '../../../src/local/disk.ts'
import { RESTORE_FOLDER } from '../../../src/local/look.ts'
import { PictureFileError } from '../../../src/local/open-file.ts'
import type { OpenPicture } from '../../../src/local/picture-file.ts'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { PictureChanged } from '../../../src/remote/host.ts'
import type { OpenPictureAt } from '../../../src/sync/context.ts'
import { because } from '../../../src/words/reasons.ts'
import { isBare, readTiny, verdictOf } from './tiny-picture.ts'
import { diskError, type FileNode, type Found, hashOf, isOdd, split, upwards } from './tree.ts'
import type { VirtualDisk } from './virtual-disk.ts'

/** What the engine has last looked at, and when. */
export class Looks {
  readonly #waited: () => number
  readonly #onListed: (folder: string) => void
  readonly #read = new Map<string, number>()
  readonly #stated = new Map<string, number>()
  readonly #met = new Map<string, number>()
  /** The bytes that were last read at each place. */
  readonly #opened = new Map<string, string>()
  readonly #missed = new Map<string, number>()
  /** The names that looks ever found in a folder. */
  readonly #listed = new Map<string, Set<string>>()

  /** `waited`: by what deletions wait, in milliseconds. `onListed` hears of each folder that is about to be listed. */
  constructor(waited: () => number, onListed: (folder: string) => void = () => {}) {
    this.#waited = waited
    this.#onListed = onListed
  }

  clear(): void {
    this.#read.clear()
    this.#stated.clear()
    this.#met.clear()
    this.#opened.clear()
    this.#missed.clear()
  }

  /** When the folder was last read, or tried to be. */
  readAt = (path: string): number => this.#read.get(path) ?? 0
  statedAt = (path: string): number => this.#stated.get(path) ?? 0
  /** When a look last did not find it, or a folder above it, where one before had found it. */
  missedAt = (path: string): number =>
    Math.max(...[...upwards(path)].map(above => this.#missed.get(above) ?? 0))

  noteRead = (path: string, at: number): void => void this.#read.set(path, at)
  noteListed(path: string, names: ReadonlySet<string>, at: number): void {
    this.#onListed(path)
    const known = this.#listed.get(path) ?? new Set()
    for (const name of known) if (!names.has(name)) this.#missed.set(`${path}/${name}`, at)
    this.#listed.set(path, new Set([...known, ...names]))
  }
  noteStat = (path: string, at: number): void => void this.#stated.set(path, at)

  /** When a look last met these bytes at the place; undefined: never. */
  metAt = (path: string, hash: string): number | undefined => this.#met.get(`${path} ${hash}`)
  /** Where others were read last, a look at names and times does not show which bytes are there now. */
  noteMet(path: string, hash: string): void {
    if ((this.#opened.get(path) ?? hash) === hash) this.#met.set(`${path} ${hash}`, this.#waited())
  }
  noteOpened(path: string, hash: string): void {
    this.#opened.set(path, hash)
    this.noteMet(path, hash)
  }
}

/** The virtual disk as the scanner sees it. `step` lets the world go on before each call. */
export function diskFor(disk: VirtualDisk, looks: Looks, wall: () => number, step: () => void): Disk {
  return {
    readFolder(path) {
      step()
      const at = disk.happens()
      looks.noteRead(path, at)
      const { node } = reachable(disk, path)
      if (node.kind !== 'folder') throw diskError('ENOTDIR', path)
      if (!node.readable) throw diskError('EACCES', path)
      looks.noteListed(path, new Set(node.children.keys()), at)
      return [...node.children].map(([name, child]) => ({ name, validUtf8: !isOdd(name), kind: child.kind }))
    },
    lstat(path) {
      // Asked with the look before it, so that no history gets other steps than it had.
      if (split(path).name !== RESTORE_FOLDER) step()
      looks.noteStat(path, disk.happens())
      if (isOdd(path)) throw diskError('ENOENT', path)
      const found = reachable(disk, path)
      const { kind, mtime, ctime, birthtime, ino } = found.node
      const size = found.node.kind === 'file' ? found.node.bytes.length : 0
      if (found.node.kind === 'file') looks.noteMet(path, found.node.hash)
      return { kind, size, mtime, ctime, birthtime, ino, dev: found.dev } satisfies DiskStat
    },
    mountPoints: folder => disk.mountPoints(folder),
    isRemote: () => false,
    readText(path) {
      step()
      looks.noteRead(path, disk.happens())
      return readableFile(disk, path).bytes.toString()
    },
    now: () => wall() * 1000,
  }
}

/** Throws where nothing is there, or a folder above may not be entered. */
function reachable(disk: VirtualDisk, path: string): Found {
  for (const above of upwards(path))
    if (above !== path && disk.find(above)?.node.readable === false) throw diskError('EACCES', path)
  const found = disk.find(path)
  if (!found) throw diskError('ENOENT', path)
  return found
}

function readableFile(disk: VirtualDisk, path: string): FileNode {
  const { node } = reachable(disk, path)
  if (node.kind === 'link') throw diskError('ELOOP', path)
  if (node.kind !== 'file') throw diskError('EISDIR', path)
  if (!node.readable) throw diskError('EACCES', path)
  return node
}

/** By what gives its bytes: the path that a picture was opened at, and when. */
export type Sources = WeakMap<OpenPicture['chunks'], { path: string; openedAt: number }>

/** Opens as the real opener does. `pause`: time passes. `inMemory`: bytes are read once. `endings`: they show their end.
 * `alters`: the host may take metadata away. */
export function openerFor(
  disk: VirtualDisk,
  wall: () => number,
  pause: () => Promise<void>,
  inMemory: () => boolean,
  { looks, sources }: { looks: Looks; sources: Sources },
  endings: boolean,
  alters = false,
): OpenPictureAt {
  return async (root, path) => {
    const full = `${root}/${path}`
    const readAt = wall() * 1000
    const file = openFile(disk, full)
    const openedAt = disk.happens()
    const { bytes, ctime } = file
    await pause()
    if (disk.find(full)?.node !== file || file.ctime !== ctime)
      throw new PictureFileError('CHANGING', because('file_changed'))
    const { mtime, ino } = file
    looks.noteOpened(full, file.hash)
    const open: OpenPicture = {
      look: { size: bytes.length, mtime, ctime, ino },
      bornAt: file.birthtime,
      readAt,
      hash: Buffer.from(hashOf(bytes), 'hex'),
      picture: readTiny(bytes),
      foreign: null,
      bare: !alters || (isBare(bytes.length) && readTiny(bytes)?.turned !== true),
      // Where they don't, half pictures look like whole ones: only that nobody writes to them tells.
      verdict: endings ? verdictOf(bytes) : { kind: 'closed', early: false },
      source: sourceOfBytes(bytes),
      memory: inMemory() ? { bytes, framed: () => null, lend: () => () => {} } : null,
      async *chunks() {
        await pause()
        yield bytes.subarray(0, bytes.length >> 1)
        await pause()
        // What is open stays what it was, whatever has become of its name; only writing into it changes it.
        if (!file.bytes.equals(bytes)) throw new PictureChanged(path)
        yield bytes.subarray(bytes.length >> 1)
      },
      close: () => {},
    }
    sources.set(open.chunks, { path: full, openedAt })
    return open
  }
}

function openFile(disk: VirtualDisk, path: string): FileNode {
  try {
    return readableFile(disk, path)
  } catch (error) {
    const { code } = error as { code: string }
    if (code === 'ENOENT') throw new PictureFileError('VANISHED', because('file_vanished'))
    if (code === 'ELOOP') throw new PictureFileError('CHANGING', because('file_became_link'))
    if (code === 'EISDIR') throw new PictureFileError('CHANGING', because('file_not_regular'))
    throw new PictureFileError('UNREADABLE', because('file_unreadable', { code }))
  }
}
