import { hash as hashOf } from 'node:crypto'
import { fstatSync, lstatSync, readSync } from 'node:fs'
import { type ByteSource, sourceOfBytes } from '../protocol/byte-reader.ts'
import { systemClock } from '../protocol/clock.ts'
import { type Inspection, inspectPicture } from '../protocol/picture/picture.ts'
import { because, type Reason } from '../words/reasons.ts'
import { statOf } from './disk.ts'
import { HashedSource, provedChunks } from './hashed-source.ts'
import { type FileLook, isSameLook } from './look.ts'
import { asPictureError, type OpenFile, openInside, PictureFileError } from './open-file.ts'
import { IN_MEMORY, PictureBuffers, type PictureMemory } from './picture-buffers.ts'

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
  /** Null: the picture is too large to be held in memory. */
  memory: PictureMemory | null
  /** Reads the file again. The last chunk comes only after the bytes have proved to have the same hash. */
  chunks(): AsyncIterable<Uint8Array>
  close(): void
}

export interface OpenOptions {
  /** Makes the error that `chunks` throws when the bytes differ from those that were hashed. */
  changed: () => Error
  /** When this signal is aborted, the reading ends. On a slow disk, reading a large file takes minutes. */
  cut?: AbortSignal
  /** Memory that is used for one picture after the other. */
  buffers?: PictureBuffers
  /** Whether the picture at this whole path and of this size is known to be new, and not to be sent. Then it is not read whole,
   * and `hash` is made from its place. */
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
  const memory = isRead && size <= IN_MEMORY ? buffers.borrow(size) : null
  try {
    const bytes = memory && (await file.fill(memory.bytes, 0))
    const source = bytes ? sourceOfBytes(bytes) : new HashedSource(file, size, cut)
    const inspection = isRead ? await inspectPicture(source) : await seenAtOnce(file, size)
    const place = `${full} ${size} ${before.ino} ${before.mtimeMs} ${before.ctimeMs}`
    const isInChunks = isRead && source instanceof HashedSource
    const hash = isInChunks ? await source.digest() : hashOf('sha256', bytes ?? place, 'buffer')
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
      memory,
      chunks: () =>
        provedChunks((at, length) => file.fill(Buffer.allocUnsafe(length), at), { size, hash }, changed),
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

/** Inspects a picture at once, and only for type and size: the thread pool takes ten times as long for so few bytes. */
async function seenAtOnce({ fd }: OpenFile, size: number): Promise<Inspection> {
  const read: ByteSource['read'] = async (offset, length) => {
    const buffer = Buffer.allocUnsafe(length)
    return buffer.subarray(0, readSync(fd, buffer, 0, length, offset))
  }
  return { ...(await inspectPicture({ size, read }, 'size')), verdict: { kind: 'closed', early: true } }
}
