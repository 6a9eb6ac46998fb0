import type { ByteSource } from './byte-reader.ts'

/** What makes a picture look as it does, without its metadata. */
export interface ImageData {
  /** SHA-256 over all that its pixels are made of. */
  sum: Buffer
  facts: ImageFacts
}

/** What is not in the sum and yet changes the look, or may be lost. Two pictures are the same when these are equal too. */
export interface ImageFacts {
  /** EXIF's number for how the picture is turned. */
  orientation?: number
  /** The digest of its colour profile. */
  icc?: string
  /** How a JPEG's colours are to be read, in Adobe's segment. */
  transform?: number
  alpha?: boolean
  /** Bytes behind the picture's end. */
  trailer?: number
}

/** Rejects only when the source's `read` does. Null: the picture is not whole or not understood. */
export type Fold = (source: ByteSource) => Promise<ImageData | null>
