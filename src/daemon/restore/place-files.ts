import { createHash } from 'node:crypto'
import { ftruncateSync, constants as is, writeSync } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { ByteSource } from '../../protocol/picture/byte-reader.ts'
import { folderAbove } from '../../sync/tree-path.ts'
import { diskProblem, PictureProblem, syncFolder, type TargetFolder } from './target-folder.ts'

/** A picture as it must be on the disk. */
export interface Wanted {
  /** Below the folder that is filled. `isSafePath` must have accepted it. */
  path: string
  /** Bytes. */
  size: number
  sha256: Buffer
  /** Microseconds since 1970. */
  mtime: number
}

/** A temporary file that will become a picture. Its bytes may be read while it is written. */
export interface BegunFile extends ByteSource {
  /** Returns when the bytes are written, so that no more arrives than the disk can take. Throws PictureProblem and FolderStopped. */
  write(chunk: Uint8Array): void
  /** Removes all bytes, for another try. */
  empty(): void
  /**
   * Moves the file to its path, once its bytes are complete and proved. Never replaces another file. `mtime`: microseconds
   * since 1970; null: now.
   */
  finish(place: { path: string; mtime: number | null }): Promise<void>
  /** Removes the file, unless `finish` has moved it. */
  close(): Promise<void>
}

/** So many folders are remembered until the next `flush`. They are real folders, and their new entries are not synced yet. */
const FOLDERS_KEPT = 500

/** Puts files into a folder and its subfolders, never outside of it. Throws PictureProblem and FolderStopped. */
export class PlaceFiles {
  readonly #target: TargetFolder
  #folders = new Map<string, Promise<string>>()
  #begun = 0

  constructor(target: TargetFolder) {
    this.#target = target
  }

  /** Whether the picture is already there with these bytes. Then its time is set too. */
  async isThere(wanted: Wanted): Promise<boolean> {
    return this.#explaining(async () => {
      const file = await this.#fullPath(wanted.path)
      const stats = await lstat(file).catch(absent)
      if (stats === null) return false
      if (!stats.isFile() || stats.size !== wanted.size) throw inTheWay()
      // An earlier run finished this file, because a file gets its time only when it is complete.
      if (Math.round(stats.mtimeMs * 1000) === wanted.mtime) return true
      const handle = await open(file, is.O_RDONLY | is.O_NOFOLLOW | is.O_NONBLOCK)
      try {
        if (!(await hashOf(handle)).equals(wanted.sha256)) throw inTheWay()
        await setTime(handle, wanted.mtime)
      } finally {
        await handle.close()
      }
      return true
    })
  }

  /** The size of the file that is there; null when none is. Throws PictureProblem where something else is in its place. */
  async sizeAt(path: string): Promise<number | null> {
    return this.#explaining(async () => {
      const stats = await lstat(await this.#fullPath(path)).catch(absent)
      if (stats !== null && !stats.isFile()) throw inTheWay()
      return stats?.size ?? null
    })
  }

  async begin(): Promise<BegunFile> {
    const temporary = join(this.#target.own, `${process.pid}-${this.#begun++}`)
    const file = await this.#explaining(() => open(temporary, 'wx+'))
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
      get size() {
        return size
      },
      read: (offset, length) =>
        this.#explaining(async () => {
          const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
          return buffer.subarray(0, bytesRead)
        }),
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
      finish: ({ path, mtime }) =>
        this.#explaining(async () => {
          if (mtime !== null) await setTime(file, mtime)
          await file.sync()
          isOpen = false
          await file.close()
          await moveTo(temporary, await this.#fullPath(path))
        }),
      async close() {
        if (isOpen) await file.close()
        // The next run removes a file that can't be removed now.
        await unlink(temporary).catch(() => {})
      },
    }
  }

  /** After this, all finished files survive a power cut. */
  async flush(): Promise<void> {
    const folders = [Promise.resolve(this.#target.root), ...this.#folders.values()]
    this.#folders = new Map()
    const made = await Promise.allSettled(folders)
    await this.#explaining(async () => {
      for (const folder of made) if (folder.status === 'fulfilled') await syncFolder(folder.value)
    })
  }

  async #fullPath(path: string): Promise<string> {
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

  /** Refuses a symbolic link in the folder's place, because the link may lead out of the folder that is filled. */
  async #makeFolder(path: string, full: string): Promise<string> {
    await this.#folder(folderAbove(path))
    await mkdir(full).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if (!(await lstat(full)).isDirectory())
      throw new PictureProblem('IN_THE_WAY', 'something that is not a folder is in the place of its folder')
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

/** Uses a hard link, because rename(2) would replace another file. Where the file system has no hard links, it looks first. */
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

export function inTheWay(): PictureProblem {
  return new PictureProblem('IN_THE_WAY', 'something else is in its place, and is left as it is')
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

/** The time is passed as text, because Node takes a negative number (a time before 1970) for the current time. */
async function setTime(file: FileHandle, mtime: number): Promise<void> {
  const seconds = String(mtime / 1e6)
  await file.utimes(seconds, seconds)
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
