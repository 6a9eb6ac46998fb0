import { readdirSync, rmSync, statfsSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { Draft, PictureStore, Random } from '../ports.ts'

/** Stores pictures below `folder`: complete ones in `kept/ab/abcd…`, others in `incoming/…`, which is emptied at a start. */
export async function openPictureFolder(folder: string, random: Random): Promise<PictureStore> {
  const incoming = join(folder, 'incoming')
  const kept = join(folder, 'kept')
  await rm(incoming, { recursive: true, force: true })
  await mkdir(incoming, { recursive: true })
  await mkdir(kept, { recursive: true })
  const shelves = openShelves(kept)
  const pathOf = (file: string) => join(kept, shelfOf(file), file)

  return {
    begin() {
      const file = random(16).toString('hex')
      return beginDraft(join(incoming, file), file, pathOf(file), shelves)
    },
    async read(file) {
      const handle = await open(pathOf(file))
      return Readable.toWeb(handle.createReadStream()) as ReadableStream<Uint8Array>
    },
    remove: file => rmSync(pathOf(file), { force: true }),
    *files() {
      for (const shelf of readdirSync(kept)) yield* readdirSync(join(kept, shelf))
    },
    freeBytes() {
      const { bavail, bsize } = statfsSync(folder)
      return bavail * bsize
    },
  }
}

/** The folder of a file: one of 256, by the first two hex digits, so that no folder gets too many files. */
function shelfOf(file: string): string {
  return file.slice(0, 2)
}

/** Resolves when this folder exists and its name would survive a power cut. */
type Shelves = (shelf: string) => Promise<void>

/** Makes each folder with its first picture. Later pictures sync that folder alone. A folder of an earlier process counts as new,
 * because the process may have ended before the sync. */
function openShelves(kept: string): Shelves {
  const made = new Map<string, Promise<void>>()
  const make = async (shelf: string) => {
    await mkdir(shelf, { recursive: true })
    await flushFolder(kept)
  }
  return shelf => {
    const known = made.get(shelf)
    if (known) return known
    const making = make(shelf)
    made.set(shelf, making)
    // A folder that could not be made is tried again with the next picture.
    making.catch(() => made.delete(shelf))
    return making
  }
}

async function beginDraft(path: string, file: string, target: string, shelves: Shelves): Promise<Draft> {
  const handle = await open(path, 'wx+', 0o600)
  let size = 0
  return {
    get size() {
      return size
    },
    async append(chunk) {
      await writeWhole(handle, chunk, size)
      size += chunk.byteLength
    },
    async read(offset, length) {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset)
      return buffer.subarray(0, bytesRead)
    },
    async keep() {
      await handle.sync()
      await handle.close()
      await shelves(dirname(target))
      await rename(path, target)
      await flushFolder(dirname(target))
      return file
    },
    async discard() {
      await handle.close()
      await rm(path, { force: true })
      await rm(target, { force: true })
    },
  }
}

/** Writes all bytes. A single write may take fewer bytes than it was given, for example on a disk that is nearly full. */
async function writeWhole(handle: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  let written = 0
  while (written < chunk.byteLength)
    written += (await handle.write(chunk, written, chunk.byteLength - written, position + written))
      .bytesWritten
}

/** Makes sure that new names in a folder survive a power cut. Windows can't sync a folder, and does not need it. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
