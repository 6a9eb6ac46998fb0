import { closeSync, constants, fstatSync, openSync, read, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { because, inWords, type Reason } from '../words/reasons.ts'

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
    } catch (error) {
      throw asPictureError(error)
    } finally {
      this.#reads--
      if (this.#isClosed) this.#end()
    }
  }

  /** Fills all of `into`, and returns it. Throws when the file ends before. */
  async fill(into: Buffer, position: number): Promise<Buffer> {
    if ((await this.read(into, position)) < into.length)
      throw new PictureFileError('CHANGING', because('file_shorter'))
    return into
  }

  /** Closes the file once no read is under way. Otherwise a read could read another file that gets the same descriptor. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end()
  }

  #end(): void {
    if (this.#reads === 0) closeSync(this.fd)
  }
}

/** Opens what lies at `path` below `root`, a file or not. Refuses to follow symbolic links. */
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

/** All bytes of the file at `path` below `root`. */
export async function readInside(root: string, path: string): Promise<Buffer> {
  const file = openInside(root, path)
  try {
    return await file.fill(Buffer.alloc(fstatSync(file.fd).size), 0)
  } finally {
    file.close()
  }
}

/** Refuses a file outside the mirror. O_NOFOLLOW checks the last name of a path only. When a folder above was replaced by a
 * symbolic link after the scan, the path leads out of the mirror. On Linux, /proc tells the real path of an open file. */
function refuseDetour({ fd }: OpenFile, full: string): void {
  if (!isAt(fd, full)) throw new PictureFileError('CHANGING', because('file_moved'))
}

/** Whether what is open lies at this real path, as far as the system tells. */
export function isAt(fd: number, full: string): boolean {
  return process.platform !== 'linux' || readlinkSync(`/proc/self/fd/${fd}`) === full
}

export function asPictureError(error: unknown): PictureFileError {
  if (error instanceof PictureFileError) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new PictureFileError('VANISHED', because('file_vanished'))
  if (code === 'ELOOP') return new PictureFileError('CHANGING', because('file_became_link'))
  return new PictureFileError('UNREADABLE', because('file_unreadable', { code: code ?? message }))
}
