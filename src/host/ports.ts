import type { Picture } from '../protocol/picture/picture.ts'
import type { ByteSource } from '../protocol/picture/source.ts'

/** What the host's logic needs of the world, as parameters: a simulation runs it in virtual time and memory. */

export interface Clock {
  /** Milliseconds since 1970, as the system's clock has them: it may jump. */
  wall(): number
  /** Milliseconds since some moment: it never jumps. */
  monotonic(): number
}

export const systemClock: Clock = { wall: () => Date.now(), monotonic: () => performance.now() }

/** So many random bytes, as node:crypto's `randomBytes`. */
export type Random = (bytes: number) => Buffer

/** What a picture is by its bytes; null for none of §4.3's formats. */
export type ReadPicture = (source: ByteSource) => Promise<Picture | null>

/** Where the bytes of images are. `file` is a name that the store has given, never one of a client's. */
export interface PictureStore {
  /** Begins a picture that nobody sees until it is kept. */
  begin(): Promise<Draft>
  /** The bytes from `start` up to and with `end`. Rejects where there are none. */
  read(file: string, start: number, end: number): Promise<ReadableStream<Uint8Array>>
  /** Returns once the bytes are gone, also where they were gone before. Throws where they stay. */
  remove(file: string): void
  /** Every picture that is kept. */
  files(): Iterable<string>
  /** Bytes that can still be stored. */
  freeBytes(): number
}

/** A picture while it comes in. */
export interface Draft extends ByteSource {
  append(chunk: Uint8Array): Promise<void>
  /** Resolves to the picture's name once its bytes would survive a power cut. */
  keep(): Promise<string>
  /** Leaves nothing of it, kept or not. */
  discard(): Promise<void>
}
