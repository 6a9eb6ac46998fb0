import { createHash } from 'node:crypto'
import { ftruncateSync, constants as is, writeSync } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { folderAbove } from '../../sync/tree-path.ts'
import { diskProblem, PlaceProblem } from './disk-problem.ts'
import { syncFolder } from './sync-folder.ts'
import type { TargetFolder } from './target-folder.ts'

/** A picture as it is to be. */
export interface Wanted {
  /** Below the folder that is filled; safe. */
  path: string
  /** Bytes. */
  size: number
  sha256: Buffer
  /** Microseconds since 1970. */
  mtime: number
}

/** A file that is not in its place yet. */
export interface BegunFile {
  /** At once: what comes in is never faster than the disk. Throws what the disk throws. */
  write(chunk: Uint8Array): void
  /** Begins anew. */
  empty(): void
  /** It is whole and right: puts it in its place, on the disk for good. Never over anything. */
  finish(wanted: Wanted): Promise<void>
  /** Where it was not finished, nothing of it stays. */
  close(): Promise<void>
}

/** Folders that are known to be real ones, and whose new names are not on the disk for sure yet. */
const FOLDERS_KEPT = 500

/** Puts files into a folder and those below it, never outside of it. Throws PlaceProblem and FolderStopped. */
export class PlaceFiles {
  readonly #target: TargetFolder
  #folders = new Map<string, Promise<string>>()
  #begun = 0

  constructor(target: TargetFolder) {
    this.#target = target
  }

  /** Whether it is there already, with these bytes; then with this time too. */
  async isThere(wanted: Wanted): Promise<boolean> {
    return this.#explaining(async () => {
      const place = await this.#placeOf(wanted.path)
      const stats = await lstat(place).catch(absent)
      if (stats === null) return false
      if (!stats.isFile() || stats.size !== wanted.size) throw inTheWay()
      // It came there whole: only then a file of ours has this time.
      if (Math.round(stats.mtimeMs * 1000) === wanted.mtime) return true
      const file = await open(place, is.O_RDONLY | is.O_NOFOLLOW | is.O_NONBLOCK)
      try {
        if (!(await hashOf(file)).equals(wanted.sha256)) throw inTheWay()
        await setTime(file, wanted.mtime)
      } finally {
        await file.close()
      }
      return true
    })
  }

  async begin(): Promise<BegunFile> {
    const temporary = join(this.#target.own, `${process.pid}-${this.#begun++}`)
    const file = await this.#explaining(() => open(temporary, 'wx'))
    let isOpen = true
    let size = 0
    const explained = <T>(work: () => T): T => {
      try {
        return work()
      } catch (error) {
        throw diskProblem(error, this.#target.root)
      }
    }
    return {
      write(chunk) {
        explained(() => {
          for (let from = 0; from < chunk.byteLength; ) {
            const written = writeSync(file.fd, chunk, from, chunk.byteLength - from, size)
            from += written
            size += written
          }
        })
      },
      empty() {
        size = 0
        explained(() => ftruncateSync(file.fd))
      },
      finish: wanted =>
        this.#explaining(async () => {
          await setTime(file, wanted.mtime)
          await file.sync()
          isOpen = false
          await file.close()
          await moveTo(temporary, await this.#placeOf(wanted.path))
        }),
      async close() {
        if (isOpen) await file.close()
        // What can't be removed now is removed by the next run.
        await unlink(temporary).catch(() => {})
      },
    }
  }

  /** What was put in its place is there for good. */
  async flush(): Promise<void> {
    const folders = [Promise.resolve(this.#target.root), ...this.#folders.values()]
    this.#folders = new Map()
    const made = await Promise.allSettled(folders)
    await this.#explaining(async () => {
      for (const folder of made) if (folder.status === 'fulfilled') await syncFolder(folder.value)
    })
  }

  async #placeOf(path: string): Promise<string> {
    if (this.#folders.size > FOLDERS_KEPT) await this.flush()
    return join(await this.#folder(folderAbove(path)), path.slice(path.lastIndexOf('/') + 1))
  }

  #folder(path: string): Promise<string> {
    const full = join(this.#target.root, path)
    if (path === '') return Promise.resolve(full)
    const known = this.#folders.get(full) ?? this.#makeFolder(path, full)
    this.#folders.set(full, known)
    return known
  }

  /** A link in a folder's place would lead elsewhere. */
  async #makeFolder(path: string, full: string): Promise<string> {
    await this.#folder(folderAbove(path))
    await mkdir(full).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if (!(await lstat(full)).isDirectory())
      throw new PlaceProblem('IN_THE_WAY', 'something that is no folder has the place of its folder')
    return full
  }

  async #explaining<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw diskProblem(error, this.#target.root)
    }
  }
}

/** Where the file system has no second names, nobody but this process is to work in the folder. */
async function moveTo(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw inTheWay()
    if (!NO_LINKS.has(code)) throw error
    if ((await lstat(to).catch(absent)) !== null) throw inTheWay()
    await rename(from, to)
  }
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

function inTheWay(): PlaceProblem {
  return new PlaceProblem('IN_THE_WAY', 'something else is there in its place, and is left as it is')
}

async function hashOf(file: FileHandle): Promise<Buffer> {
  const sum = createHash('sha256')
  const buffer = Buffer.alloc(256 * 1024)
  for (;;) {
    const { bytesRead } = await file.read(buffer)
    if (bytesRead === 0) return sum.digest()
    sum.update(buffer.subarray(0, bytesRead))
  }
}

/** As text: Node takes a negative number, a time before 1970, for now. */
async function setTime(file: FileHandle, mtime: number): Promise<void> {
  const seconds = String(mtime / 1e6)
  await file.utimes(seconds, seconds)
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
