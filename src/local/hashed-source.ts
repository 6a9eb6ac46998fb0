import { createHash } from 'node:crypto'
import type { ByteSource } from '../protocol/byte-reader.ts'
import { because } from '../words/reasons.ts'
import { type OpenFile, PictureFileError } from './open-file.ts'

const CHUNK = 256 * 1024

/** A file's bytes for a reader that only goes forward. All bytes are hashed on the way, also those that the reader skips, so each
 * byte is read once. */
export class HashedSource implements ByteSource {
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
    if (offset < this.#at) return this.#file.fill(Buffer.allocUnsafe(Math.max(0, end - offset)), offset)
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
    // A reader may still hold the chunk before, so each chunk has memory of its own.
    this.#chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, this.size - this.#at))
    this.#sum.update(await this.#file.fill(this.#chunk, this.#at))
  }
}

/** Reads a picture again, chunk by chunk. The last chunk comes only after all bytes have proved to have this hash. `read`: gives
 * each chunk a buffer of its own, because the previous chunk may still be on its way to the socket. */
export async function* provedChunks(
  read: ByteSource['read'],
  { size, hash }: { size: number; hash: Buffer },
  changed: () => Error,
) {
  const sum = createHash('sha256')
  for (let at = 0; at < size; at += CHUNK) {
    const part = await read(at, Math.min(CHUNK, size - at)).catch(() => null)
    if (part) sum.update(part)
    if (!part || (at + CHUNK >= size && !sum.digest().equals(hash))) throw changed()
    yield part
  }
}
