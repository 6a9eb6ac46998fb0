import type { ByteReader } from '../../byte-reader.ts'
import type { Part, Walk } from '../part.ts'

/** What is taken out. location: all but how and when a picture was taken, and by whom. all: these, too. */
export type Strip = 'location' | 'all'

/** Bytes of what is made: some of the file's, between these offsets, or others. */
export type Piece = Buffer | { from: number; to: number }

/** Why a picture can't be stripped for sure, and which part is the cause.
 * not_whole: something is missing, or its end can't be found. not_understood: its pixels may need a part that is not listed, or
 * that would be changed together with another. too_many: it has more parts than are read. */
export interface Obstacle {
  code: 'not_whole' | 'not_understood' | 'too_many'
  part: string
  at: number
}

/** What stands for a part in what is made. Null: nothing. */
export interface Taken {
  part: Part
  piece: Piece | null
}

/** How a picture of one format, which is a sequence of parts, is made anew from them. */
export interface Rules {
  walk: Walk
  /** So many bytes stand before the first part. */
  begin?: number
  /** The end mark. A format without one states its length. */
  end?: Buffer
  /** The part that holds this EXIF. */
  exif?(exif: Buffer): Buffer
  /** Whether the part stays, or what stands there instead. */
  take(part: Part, reader: ByteReader): Promise<Buffer | boolean>
  /** Writes what some of these parts say of others. False: it was not true before. */
  measure?(taken: readonly Taken[]): boolean
}

export function lengthOf(piece: Piece | null): number {
  if (piece === null) return 0
  return Buffer.isBuffer(piece) ? piece.byteLength : piece.to - piece.from
}
