import { createHash, randomUUID } from 'node:crypto'
import {
  ftruncateSync,
  constants as is,
  lstatSync,
  realpathSync,
  renameSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { type FileHandle, link, lstat, open, readdir, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unreadable } from '../../config/paths.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { takeRights } from '../../local/rights.ts'
import { toDisk } from '../../local/to-disk.ts'
import type { ByteSource } from '../../protocol/byte-reader.ts'
import type { ListedImage } from '../../protocol/records.ts'
import { sizeFits } from '../../sync/listing/index.ts'
import { folderAbove, nameOf } from '../../sync/tree-path.ts'
import type { Given } from '../../synced/tables/images.ts'
import type { RecordedImage } from './altered.ts'
import { PictureProblem } from './picture-problem.ts'
import { safeName, type TargetFolder } from './target-folder.ts'

/** What is known of a picture: its hash, or only what the host lists. `isLinked`: the image was found by name and size alone.
 * `image`: identifies the picture where the host delivers other bytes than it was sent. */
export type Known =
  | { size: number; sha256: Buffer; isLinked?: boolean; image?: RecordedImage }
  | { listed: ListedImage }

export type Delivered = Pick<Given, 'size' | 'how' | 'turned'>
/** The mark of bytes that are as the host was sent them. */
export const SENT = { how: null, turned: 0 } as const
/** The mark of bytes that nothing shows to be the original. */
export const ENCODED = { how: 'encoded', turned: 0 } as const

/** The bytes that are known to be the picture. There are none where only a listing tells of it. */
export function bytesOf(known: Known): Given[] {
  if ('listed' in known) return []
  return known.image?.bytes ?? [{ hash: known.sha256, size: known.size, ...SENT }]
}

export function sizeIs(known: Known, size: number): boolean {
  if ('listed' in known) return sizeFits(known.listed.size ?? '', size)
  return bytesOf(known).some(bytes => bytes.size === size)
}

export interface Wanted {
  /** The path below the folder that is filled. `isSafePath` must have accepted it. */
  to: string
  known: Known
  /** The modification time in microseconds since 1970. Null: not known. */
  mtime: number | null
  /** Whether the records say that the picture is on the disk. False: only its bytes can tell. */
  isThere?(): boolean
}

/** The most folders with new entries that are remembered. After that, `flush` syncs the entries to the disk. */
const FOLDERS_KEPT = 500

/** Puts files into a folder and below it, never outside. Throws PictureProblem, and errors that `diskProblem` explains. */
export class PlaceFiles {
  readonly root: string
  readonly #own: string
  readonly #aside: string | null
  #folders = new Map<string, Promise<string>>()

  constructor({ root, own, aside }: Pick<TargetFolder, 'root' | 'own' | 'aside'>) {
    this.root = root
    this.#own = own
    this.#aside = aside
  }

  /** The picture, when a file with known bytes has its place; the file then gets its mtime. Null: the place is empty, or holds a
   * file to put aside. Throws PictureProblem where it holds something else. */
  async there({ to, known, mtime, isThere }: Wanted): Promise<Delivered | null> {
    const ofSize = (size: number): Delivered => {
      const { how, turned } = bytesOf(known).find(each => each.size === size) ?? SENT
      return { size, how, turned }
    }
    if (isThere?.() && isReal(dirname(join(this.root, to))))
      return ofSize((await lstat(join(this.root, to))).size)
    const file = await this.#fullPath(to)
    const stats = await lstat(file).catch(absent)
    if (stats === null) return null
    if (!stats.isFile()) return this.#another()
    // An earlier run has finished this file: only a complete file gets the picture's modification time.
    const isFinished = this.#aside === null && Math.round(stats.mtimeMs * 1000) === mtime
    const isSize = sizeIs(known, stats.size)
    if ('listed' in known && isFinished && !isSize) return { size: stats.size, ...ENCODED }
    if (!isSize) return this.#another()
    if ('listed' in known || isFinished) return ofSize(stats.size)
    const handle = await openThere(file)
    try {
      const sum = createHash('sha256')
      for await (const chunk of chunksOf(handle)) sum.update(chunk)
      const hash = sum.digest()
      if (!bytesOf(known).some(bytes => bytes.hash.equals(hash))) return this.#another()
      // The bytes are the picture's. Only the owner can set the time, and nobody on a disk mounted read-only.
      if (mtime !== null)
        await setTime(handle, mtime).catch((error: NodeJS.ErrnoException) => {
          if (!FORBIDDEN.has(error.code ?? '') && error.code !== 'EROFS') throw error
        })
    } finally {
      await handle.close()
    }
    return ofSize(stats.size)
  }

  #another(): null {
    if (this.#aside === null) throw inTheWay()
    return null
  }

  async begin(): Promise<BegunFile> {
    const temporary = join(this.#own, `.albumd-${randomUUID()}`)
    return new BegunFile(temporary, await open(temporary, 'wx+'))
  }

  /** Moves a proved file to its path. Another file there first gets a second name in `aside`, and is then replaced by one rename:
   * a scan would take an empty path for deleted. Returns whether a file was put aside. */
  async finish(begun: BegunFile, { to, mtime }: Wanted): Promise<boolean> {
    await begun.complete(mtime, await this.#rightsAt(to))
    const full = await this.#fullPath(to)
    const there = this.#aside === null ? null : await lstat(full).catch(absent)
    if (this.#aside === null || there === null) {
      await moveTo(begun.path, full)
      return false
    }
    if (there.isDirectory()) throw inTheWay()
    const aside = await this.#pathAside(this.#aside, to, full)
    if (!(await isSame(full, aside)) && !(await linkTo(full, aside))) await this.#copy(full, there, aside)
    // Otherwise a power cut could keep the new file at the path, and lose the second name of the old one.
    toDisk(dirname(aside))
    if (!isAlike(await lstat(full).catch(absent), there)) throw inTheWay()
    await rename(begun.path, full).catch(async (error: NodeJS.ErrnoException) => {
      // The old file stays at its path (chattr +i, a sticky folder), so its second name is removed.
      if (FORBIDDEN.has(error.code ?? '')) await unlink(aside)
      throw error
    })
    return true
  }

  /** What a file at this path may not be more open than: the file that it replaces, or else its folder. */
  async #rightsAt(path: string): Promise<Stats> {
    const full = await this.#fullPath(path)
    const there = await lstat(full).catch(absent)
    return there?.isFile() ? there : lstat(dirname(full))
  }

  /** Syncs the folders of the finished files, which then survive a power cut. */
  async flush(): Promise<void> {
    const folders = [...this.#folders.values()]
    this.#folders = new Map()
    const made = await Promise.allSettled(folders)
    for (const folder of made) if (folder.status === 'fulfilled') toDisk(folder.value)
  }

  /** The path in `aside` for what has the picture's place. It may have that name already, from a restore that was killed. */
  async #pathAside(aside: string, path: string, full: string): Promise<string> {
    const folder = dirname(join(aside, path))
    makeFolder(folder, 0o700, [])
    refuseLink(folder)
    const taken = new Set(await readdir(folder))
    let name = nameOf(path)
    for (let n = 2; taken.has(name) && !(await isSame(full, join(folder, name))); n++)
      name = safeName(`${n} ${nameOf(path)}`)
    return join(folder, name)
  }

  /** Copies a file to the path `aside`. Throws PictureProblem where there is no file. */
  async #copy(full: string, there: Stats, aside: string): Promise<void> {
    if (!there.isFile()) throw inTheWay()
    const from = await openThere(full)
    try {
      const copy = await this.begin()
      try {
        for await (const chunk of chunksOf(from)) copy.write(chunk)
        await copy.complete(Math.round(there.mtimeMs * 1000), there)
        await moveTo(copy.path, aside)
      } finally {
        await copy.close()
      }
    } finally {
      await from.close()
    }
  }

  async #fullPath(path: string): Promise<string> {
    if (this.#folders.size > FOLDERS_KEPT) await this.flush()
    return join(await this.#folder(folderAbove(path)), nameOf(path))
  }

  /** The real folder at this path. It is looked at each time, because a link may have come to its place. */
  async #folder(path: string): Promise<string> {
    const known = this.#folders.get(path) ?? this.#makeFolder(path)
    this.#folders.set(path, known)
    const folder = await known
    refuseLink(folder)
    return folder
  }

  /** Makes a folder. Refuses a symbolic link, which may lead out, and a folder that `flush` could not open to sync. */
  async #makeFolder(path: string): Promise<string> {
    if (path === '') return this.root
    const full = join(await this.#folder(folderAbove(path)), nameOf(path))
    if ((await lstat(full).catch(absent)) === null) makeFolder(full, 0o777, [])
    if (!(await lstat(full)).isDirectory()) throw inTheWay(`${path} is no folder`)
    const opened = await open(`${full}/.`, is.O_RDONLY | is.O_DIRECTORY).catch(unread('its folder'))
    await opened.close()
    return full
  }
}

export class BegunFile implements ByteSource {
  size = 0
  readonly path: string
  readonly #file: FileHandle
  #isOpen = true

  constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  }

  /** Returns only when the bytes are written, so that downloads are not faster than the disk. */
  write(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.byteLength; ) {
      const written = writeSync(this.#file.fd, chunk, from, chunk.byteLength - from, this.size)
      from += written
      this.size += written
    }
  }

  empty(): void {
    this.size = 0
    ftruncateSync(this.#file.fd)
  }

  /** Ends the file: its bytes and its time are on the disk then. A second call does nothing. */
  async complete(mtime: number | null, like: Stats): Promise<void> {
    if (!this.#isOpen) return
    takeRights(this.#file.fd, [like])
    if (mtime !== null) await setTime(this.#file, mtime)
    await this.#file.sync()
    this.#isOpen = false
    await this.#file.close()
  }

  async close(): Promise<void> {
    if (this.#isOpen) await this.#file.close()
    // A file that can't be removed now is removed by the next run.
    await unlink(this.path).catch(() => {})
  }
}

/** Never replaces a file: a hard link fails where one is, rename(2) would not. Without links it looks just before. */
async function moveTo(from: string, to: string): Promise<void> {
  if (await linkTo(from, to)) return
  if (lstatSync(to, { throwIfNoEntry: false })) throw inTheWay()
  renameSync(from, to)
}

/** Whether a file is as it was. A second name changes the ctime, and on some network disks the inode, so neither counts. */
function isAlike(now: Stats | null, before: Stats): boolean {
  return now !== null && now.size === before.size && now.mtimeMs === before.mtimeMs
}

/** Whether two paths are names of one file. False on a network disk that numbers each name (sshfs). */
async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map(path => lstat(path).catch(absent)))
  return !!a && !!b && a.ino === b.ino && a.dev === b.dev
}

/** Gives a file a second name. False: the file system has no hard links, or denies them to all but the owner. */
async function linkTo(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw inTheWay()
    if (!NO_LINKS.has(code)) throw error
    return false
  }
}

/** Errors by which the file system refuses a change. Nothing has changed then. */
const FORBIDDEN: ReadonlySet<string> = new Set(['EPERM', 'EACCES'])

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

function inTheWay(what = 'something else is there'): PictureProblem {
  return new PictureProblem('IN_THE_WAY', `${what}, and stays; move it away and run the same command again`)
}

function isReal(folder: string): boolean {
  return realpathSync.native(folder) === folder
}

/** Throws for a link, because it may lead out of the folder that is filled. */
function refuseLink(folder: string): void {
  if (!isReal(folder)) throw inTheWay(`a link leads out of ${folder}`)
}

/** Sets the modification time. It is passed as text, because Node takes a negative number (before 1970) for the current time. */
async function setTime(file: FileHandle, mtime: number): Promise<void> {
  const seconds = String(mtime / 1e6)
  await file.utimes(seconds, seconds)
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

function openThere(path: string): Promise<FileHandle> {
  return open(path, is.O_RDONLY | is.O_NOFOLLOW | is.O_NONBLOCK).catch(unread(THERE))
}

async function* chunksOf(there: FileHandle): AsyncGenerator<Uint8Array> {
  try {
    yield* there.createReadStream({ autoClose: false })
  } catch (error) {
    unread(THERE)(error as NodeJS.ErrnoException)
  }
}

const THERE = 'the file there'

/** Returns a function that turns an error of opening or reading into a PictureProblem. */
function unread(what: string): (error: NodeJS.ErrnoException) => never {
  return error => {
    if (!UNREAD.has(error.code ?? '')) throw error
    throw new PictureProblem('NOT_READ', `${what} ${unreadable(error.code)}`)
  }
}

/** Errors that concern one file. EIO is a bad sector. */
const UNREAD: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EIO'])
