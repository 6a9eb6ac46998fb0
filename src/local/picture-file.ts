import { createHash, hash as hashOf } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, read, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { type ByteSource, sourceOfBytes } from '../protocol/picture/byte-reader.ts'
import type { Ending } from '../protocol/picture/ending.ts'
import { type Picture, readEnding, readPicture } from '../protocol/picture/picture.ts'
import { because, inWords, type Reason } from '../words/reasons.ts'
import { statOf } from './disk.ts'
import { type FileLook, isSameLook } from './look.ts'

const CHUNK = 256 * 1024

/** A file that was opened and hashed. What is sent is what was hashed, whatever happens to the name meanwhile. */
export interface OpenPicture {
  look: Omit<FileLook, 'name'>
  /** When the file was made: microseconds since 1970, 0 where its file system does not know. */
  bornAt: number
  /** When it began to be read: microseconds since 1970. */
  readAt: number
  /** SHA-256 of all its bytes. */
  hash: Buffer
  /** Null: no picture of §4.3's formats. */
  picture: Picture | null
  /** Whether the picture is complete. */
  ending: Ending
  /** The whole picture, when it is small enough for the memory. After `close` another picture may be read into this memory. */
  bytes: Uint8Array | null
  /** Keeps the memory of `bytes` from being used again, even after `close`. Answers a function that ends this. */
  lend(): () => void
  /** Reads the file again. The last chunk is given only after all bytes have proved to be those that were hashed. */
  chunks(): AsyncIterable<Uint8Array>
  close(): void
}

/**
 * Why a file can't be read now. `code`: VANISHED, CHANGING (it changed while it was read; look again later),
 * UNREADABLE (with the system's reason in the message), CUT_OFF (nobody waits for it any more).
 */
export class PictureFileError extends Error {
  override name = 'PictureFileError'
  readonly code: 'VANISHED' | 'CHANGING' | 'UNREADABLE' | 'CUT_OFF'
  readonly why: Reason

  constructor(code: PictureFileError['code'], why: Reason) {
    super(inWords(why))
    this.code = code
    this.why = why
  }
}

export interface OpenOptions {
  /** Makes the error that `chunks` throws when the bytes are no longer those that were hashed. */
  changed: () => Error
  /** Ends the reading, which takes minutes for a large file on a slow disk. */
  cut?: AbortSignal
  /** Shared by pictures that are opened one after the other. */
  buffers?: PictureBuffers
}

/**
 * Opens and hashes the file at `path` below `root` (both without symbolic links). Memory does not grow with the file's
 * size: a small file is read once and sent from memory, a larger file is read twice and never held in memory.
 */
export async function openPicture(root: string, path: string, options: OpenOptions): Promise<OpenPicture> {
  const file = openInside(root, path)
  try {
    return await hashed(file, `${root}/${path}`, options)
  } catch (error) {
    file.close()
    throw asPictureError(error)
  }
}

const readInto = promisify(read)

/**
 * A file that is open for reading. Only its reads are asynchronous, because a slow disk takes long for them alone. To open
 * and to close a small picture asynchronously takes longer than to read it.
 */
export class OpenFile {
  readonly fd: number
  #reads = 0
  #isClosed = false

  constructor(fd: number) {
    this.fd = fd
  }

  /** Fills `into` with the bytes from `position` on. Answers how many there were: fewer at the end of the file. */
  async read(into: Uint8Array, position: number): Promise<number> {
    if (this.#isClosed) throw new Error('the file is closed')
    this.#reads++
    try {
      let done = 0
      while (done < into.length) {
        const { bytesRead } = await readInto(this.fd, into, done, into.length - done, position + done)
        if (bytesRead === 0) break
        done += bytesRead
      }
      return done
    } finally {
      this.#reads--
      if (this.#isClosed) this.#end()
    }
  }

  /** A read that is under way ends first, because the next file that is opened gets the same number. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end()
  }

  #end(): void {
    if (this.#reads === 0) closeSync(this.fd)
  }
}

/** Opens what is at `path` below `root` (as above), a file or anything else. Refuses to follow links. */
export function openInside(root: string, path: string): OpenFile {
  const full = `${root}/${path}`
  let file: OpenFile | undefined
  try {
    // Without O_NONBLOCK a file that has become a named pipe would block for ever.
    file = new OpenFile(openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
    refuseDetour(file, full)
    return file
  } catch (error) {
    file?.close()
    throw asPictureError(error)
  }
}

/**
 * O_NOFOLLOW checks the last name only. When a folder above was replaced by a symbolic link after the scan, the path leads
 * out of the mirror. Linux tells where an open file really is.
 */
function refuseDetour({ fd }: OpenFile, full: string): void {
  if (process.platform !== 'linux') return
  const real = readlinkSync(`/proc/self/fd/${fd}`)
  if (real !== full) throw new PictureFileError('CHANGING', because('file_moved'))
}

async function hashed(
  file: OpenFile,
  full: string,
  { changed, cut, buffers = new PictureBuffers() }: OpenOptions,
): Promise<OpenPicture> {
  const readAt = Date.now() * 1000
  const before = fstatSync(file.fd)
  if (!before.isFile()) throw new PictureFileError('CHANGING', because('file_not_regular'))
  const { size } = before
  const memory = size <= IN_MEMORY ? buffers.borrow() : null
  try {
    const bytes = memory ? await filled(file, memory.buffer.subarray(0, size), 0) : null
    const hash = bytes ? hashOf('sha256', bytes, 'buffer') : await hashInChunks(file, size, cut)
    const source = bytes ? sourceOfBytes(bytes) : sourceOfFile(file, size, cut)
    const picture = await readPicture(source)
    const ending = await readEnding(picture?.format ?? null, source)
    const after = statOf(fstatSync(file.fd))
    const named = statOf(lstatSync(full))
    if (!isSameLook(statOf(before), after) || !isSameLook(after, named))
      throw new PictureFileError('CHANGING', because('file_changed'))
    const { mtime, ctime, ino, birthtime } = after
    return {
      look: { size, mtime, ctime, ino },
      bornAt: birthtime,
      readAt,
      hash,
      picture,
      ending,
      bytes,
      chunks: () => proved(file, size, hash, changed),
      lend: () => memory?.lend() ?? (() => {}),
      close() {
        memory?.end()
        file.close()
      },
    }
  } catch (error) {
    memory?.end()
    throw error
  }
}

async function hashInChunks(file: OpenFile, size: number, cut?: AbortSignal): Promise<Buffer> {
  const sum = createHash('sha256')
  const buffer = Buffer.allocUnsafe(CHUNK)
  for (let at = 0; at < size; at += CHUNK) {
    goOnUnless(cut)
    sum.update(await filled(file, buffer.subarray(0, Math.min(CHUNK, size - at)), at))
  }
  return sum.digest()
}

function goOnUnless(cut: AbortSignal | undefined): void {
  if (cut?.aborted) throw new PictureFileError('CUT_OFF', because('file_cut_off'))
}

async function* proved(file: OpenFile, size: number, hash: Buffer, changed: () => Error) {
  const sum = createHash('sha256')
  for (let at = 0; at < size; at += CHUNK) {
    // Each chunk has a buffer of its own, because the chunk before may still be on its way to the socket.
    const part = Buffer.allocUnsafe(Math.min(CHUNK, size - at))
    try {
      await filled(file, part, at)
    } catch {
      throw changed()
    }
    sum.update(part)
    if (at + CHUNK >= size && !sum.digest().equals(hash)) throw changed()
    yield part
  }
}

/** `into`, filled with the file's bytes from `position` on. */
async function filled(file: OpenFile, into: Buffer, position: number): Promise<Buffer> {
  if ((await file.read(into, position)) < into.length)
    throw new PictureFileError('CHANGING', because('file_shorter'))
  return into
}

function sourceOfFile(file: OpenFile, size: number, cut: AbortSignal | undefined): ByteSource {
  return {
    size,
    async read(offset, length) {
      goOnUnless(cut)
      const buffer = Buffer.allocUnsafe(length)
      return buffer.subarray(0, await file.read(buffer, offset))
    },
  }
}

function asPictureError(error: unknown): PictureFileError {
  if (error instanceof PictureFileError) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new PictureFileError('VANISHED', because('file_vanished'))
  if (code === 'ELOOP') return new PictureFileError('CHANGING', because('file_became_link'))
  return new PictureFileError('UNREADABLE', because('file_unreadable', { code: code ?? message }))
}

/** Bytes. Pictures up to this size are held in memory. */
export const IN_MEMORY = 2 * 2 ** 20

/**
 * Memory for pictures, which is used again until `letGo`. V8 counts each new buffer and then collects garbage more
 * often. For a small picture this took as long as all other work. Uploads that begin together also end together, so
 * often no picture is open for a moment. The memory is kept in that moment, because the next pictures follow at once.
 */
export class PictureBuffers {
  readonly #free: Buffer[] = []

  /**
   * IN_MEMORY bytes with any content, for use until `end`. After `end` they are used again, unless somebody may still
   * read them.
   */
  borrow() {
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(IN_MEMORY)
    let readers = 0
    return {
      buffer,
      lend: () => {
        readers++
        return () => void readers--
      },
      end: () => {
        if (readers === 0) this.#free.push(buffer)
      },
    }
  }

  /** Frees the memory, because no picture is to be opened for now. */
  letGo(): void {
    this.#free.length = 0
  }
}
