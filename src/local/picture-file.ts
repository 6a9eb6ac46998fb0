import { createHash, hash as hashOf } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, read, readlinkSync, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { systemClock } from '../protocol/clock.ts'
import { type ByteSource, sourceOfBytes } from '../protocol/picture/byte-reader.ts'
import { type Inspection, inspectPicture } from '../protocol/picture/picture.ts'
import { because, inWords, type Reason } from '../words/reasons.ts'
import { statOf } from './disk.ts'
import { type FileLook, isSameLook } from './look.ts'

const CHUNK = 256 * 1024

/** A file that was opened, hashed and walked through. Its bytes are sent, even when another file gets its name meanwhile. */
export interface OpenPicture extends Inspection {
  look: Omit<FileLook, 'name'>
  /** When the file was made, in microseconds since 1970. 0 when its file system does not record this. */
  bornAt: number
  /** When albumd began to read the file, in microseconds since 1970. */
  readAt: number
  /** SHA-256 of all bytes of the file. See `OpenOptions.isUnlike`. */
  hash: Buffer
  /** The picture's bytes for a walk, until `close`. */
  source: ByteSource
  /** All bytes of the picture; null when it is too large to be held in memory. After `close` this memory is used for the
   * next picture. */
  bytes: Uint8Array | null
  /** All bytes of the picture with `head` before and `tail` after them, in one piece of memory, so that a single write sends
   * them. Null when the picture is not in memory. */
  framed(head: Uint8Array, tail: Uint8Array): Uint8Array | null
  /** Keeps the memory of `bytes` for a reader, also after `close`, until the reader calls the returned function. */
  lend(): () => void
  /** Reads the file again. The last chunk comes only after the bytes have proved to have the same hash. */
  chunks(): AsyncIterable<Uint8Array>
  close(): void
}

/** Why a file can't be read now. `code`: VANISHED, CHANGING (the file changed while it was read; look again later),
 * UNREADABLE (the message contains the system's reason), CUT_OFF (the reading was ended, because nobody waits for it any
 * more). */
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
  /** Makes the error that `chunks` throws when the bytes differ from those that were hashed. */
  changed: () => Error
  /** When this signal is aborted, the reading ends. On a slow disk, reading a large file takes minutes. */
  cut?: AbortSignal
  /** Memory that pictures share which are opened one after the other. */
  buffers?: PictureBuffers
  /** Whether the picture at this whole path, of so many bytes, is new and unlike all that is recorded, and not sent. It is not
   * read whole; `hash` stands for its place. */
  isUnlike?: (full: string, size: number) => boolean
}

/** Opens and hashes the file at `path` below `root`. Neither path may lead through a symbolic link. Memory does not grow
 * with the file's size: a small file is read once and sent from memory; a larger file is read twice and never held in
 * memory. */
export async function openPicture(root: string, path: string, options: OpenOptions): Promise<OpenPicture> {
  const file = openInside(root, path)
  try {
    return await hashed(file, `${root}/${path}`, options)
  } catch (error) {
    file.close()
    throw asPictureError(error)
  }
}

/** Why a file whose bytes are no picture is not sent. */
export function whyNoPicture({ foreign }: Pick<OpenPicture, 'foreign'>): Reason {
  return foreign === null ? because('not_a_picture') : because('foreign_picture', { format: foreign })
}

const readInto = promisify(read)

/** A file that is open for reading. Only reading is asynchronous, because only reading takes long on a slow disk. Opening
 * and closing are synchronous: for a small picture, doing them asynchronously takes longer than to read it. */
export class OpenFile {
  readonly fd: number
  #reads = 0
  #isClosed = false

  constructor(fd: number) {
    this.fd = fd
  }

  /** Fills `into` with the bytes from `position` on. Returns how many it has read; fewer at the end of the file. */
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

  /** Closes the file once no read is under way: the next file gets its descriptor, and a read would read that file. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end()
  }

  #end(): void {
    if (this.#reads === 0) closeSync(this.fd)
  }
}

/** Opens the file, or anything else, at `path` below `root`. Refuses to follow symbolic links. */
export function openInside(root: string, path: string): OpenFile {
  const full = `${root}/${path}`
  let file: OpenFile | undefined
  try {
    // A named pipe may have taken the file's name. Without O_NONBLOCK, opening the pipe would wait for a writer without
    // end.
    file = new OpenFile(openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
    refuseDetour(file, full)
    return file
  } catch (error) {
    file?.close()
    throw asPictureError(error)
  }
}

/** Refuses a file outside the mirror. O_NOFOLLOW checks the last name of a path only. When a folder above was replaced by a
 * symbolic link after the scan, the path leads out of the mirror. On Linux, /proc tells the real path of an open file. */
function refuseDetour({ fd }: OpenFile, full: string): void {
  if (process.platform !== 'linux') return
  const real = readlinkSync(`/proc/self/fd/${fd}`)
  if (real !== full) throw new PictureFileError('CHANGING', because('file_moved'))
}

async function hashed(
  file: OpenFile,
  full: string,
  { changed, cut, buffers = new PictureBuffers(), isUnlike = () => false }: OpenOptions,
): Promise<OpenPicture> {
  const readAt = systemClock.wall() * 1000
  const before = fstatSync(file.fd)
  if (!before.isFile()) throw new PictureFileError('CHANGING', because('file_not_regular'))
  const { size } = before
  const isRead = !isUnlike(full, size)
  const memory = isRead && size <= IN_MEMORY ? buffers.borrow() : null
  try {
    const bytes = memory && (await filled(file, memory.buffer.subarray(ROOM, ROOM + size), 0))
    const source = bytes ? sourceOfBytes(bytes) : new FileSource(file, size, cut)
    const inspection = isRead ? await inspectPicture(source) : await seenAtOnce(file, size)
    const hash = !isRead
      ? hashOf('sha256', `${full} ${size} ${before.ino} ${before.mtimeMs} ${before.ctimeMs}`, 'buffer')
      : source instanceof FileSource
        ? await source.digest()
        : hashOf('sha256', bytes!, 'buffer')
    // The name shows the open file, unless another file has taken its place, and that file has another number.
    const after = statOf(lstatSync(full))
    if (!isSameLook(statOf(before), after)) throw new PictureFileError('CHANGING', because('file_changed'))
    const { mtime, ctime, ino, birthtime } = after
    return {
      look: { size, mtime, ctime, ino },
      bornAt: birthtime,
      readAt,
      hash,
      ...inspection,
      source,
      bytes,
      chunks: () => proved(file, size, hash, changed),
      framed(head, tail) {
        if (!bytes || !memory || head.length > ROOM || tail.length > ROOM) return null
        memory.buffer.set(head, ROOM - head.length)
        memory.buffer.set(tail, ROOM + size)
        return memory.buffer.subarray(ROOM - head.length, ROOM + size + tail.length)
      },
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

async function* proved(file: OpenFile, size: number, hash: Buffer, changed: () => Error) {
  const sum = createHash('sha256')
  for (let at = 0; at < size; at += CHUNK) {
    // Each chunk gets a buffer of its own, because the previous chunk may still be on its way to the socket.
    const part = Buffer.allocUnsafe(Math.min(CHUNK, size - at))
    const length = await file.read(part, at).catch(() => 0)
    sum.update(part)
    if (length < part.length || (at + CHUNK >= size && !sum.digest().equals(hash))) throw changed()
    yield part
  }
}

/** Fills `into` with the file's bytes from `position` on, and answers it. Throws when the file ends before. */
async function filled(file: OpenFile, into: Buffer, position: number): Promise<Buffer> {
  if ((await file.read(into, position)) < into.length)
    throw new PictureFileError('CHANGING', because('file_shorter'))
  return into
}

/** The file's bytes for a walk that goes forward. They are hashed on the way, what the walk passes over included, so that each
 * byte is read once. */
class FileSource implements ByteSource {
  readonly size: number
  readonly #file: OpenFile
  readonly #cut: AbortSignal | undefined
  readonly #sum = createHash('sha256')
  /** The chunk that was hashed last, and where it begins. */
  #chunk = Buffer.alloc(0)
  #at = 0

  constructor(file: OpenFile, size: number, cut: AbortSignal | undefined) {
    this.#file = file
    this.size = size
    this.#cut = cut
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size)
    if (offset < this.#at) return filled(this.#file, Buffer.allocUnsafe(Math.max(0, end - offset)), offset)
    const pieces: Buffer[] = []
    for (let at = offset; ; await this.#next()) {
      const piece = this.#chunk.subarray(at - this.#at, end - this.#at)
      if (piece.length > 0) pieces.push(piece)
      at += piece.length
      if (at >= end) return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    }
  }

  /** SHA-256 of the whole file. */
  async digest(): Promise<Buffer> {
    while (this.#at + this.#chunk.length < this.size) await this.#next()
    return this.#sum.digest()
  }

  async #next(): Promise<void> {
    if (this.#cut?.aborted) throw new PictureFileError('CUT_OFF', because('file_cut_off'))
    this.#at += this.#chunk.length
    // A reader may still hold the chunk before, so each is memory of its own.
    this.#chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, this.size - this.#at))
    this.#sum.update(await filled(this.#file, this.#chunk, this.#at))
  }
}

/** Reads at once, and only type and size: the thread pool takes ten times as long for so few bytes. */
async function seenAtOnce({ fd }: OpenFile, size: number): Promise<Inspection> {
  const read: ByteSource['read'] = async (offset, length) => {
    const buffer = Buffer.allocUnsafe(length)
    return buffer.subarray(0, readSync(fd, buffer, 0, length, offset))
  }
  return { ...(await inspectPicture({ size, read }, 'size')), verdict: { kind: 'closed', early: true } }
}

function asPictureError(error: unknown): PictureFileError {
  if (error instanceof PictureFileError) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new PictureFileError('VANISHED', because('file_vanished'))
  if (code === 'ELOOP') return new PictureFileError('CHANGING', because('file_became_link'))
  return new PictureFileError('UNREADABLE', because('file_unreadable', { code: code ?? message }))
}

/** Pictures of up to so many bytes are held in memory. */
export const IN_MEMORY = 2 * 2 ** 20
/** How many bytes the memory has before and after a picture, for what `framed` puts around the picture. */
const ROOM = 1024

/** Memory for pictures, which is used again for the next picture until `letGo` is called. V8 collects garbage more often the
 * more buffers it has allocated; for a small picture this took as long as all other work. Uploads that begin together also
 * end together, so there are moments in which no picture is open. The memory is kept in such a moment, because the next
 * pictures follow at once. */
export class PictureBuffers {
  readonly #free: Buffer[] = []

  /** Lends memory for a picture and for what is put around it, with any content until `end` is called. After `end` the next
   * picture gets the same bytes, unless a reader has called `lend` and still reads them. */
  borrow() {
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(ROOM + IN_MEMORY + ROOM)
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

  /** Frees the buffers that are kept for further pictures. The caller knows that no picture will be opened for a while. */
  letGo(): void {
    this.#free.length = 0
  }
}
