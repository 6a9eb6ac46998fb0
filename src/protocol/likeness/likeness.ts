import type { ByteSource } from '../byte-reader.ts'
import type { Format } from '../formats.ts'
import type { ImageData, ImageFacts } from '../picture/image-data.ts'
import { imageData } from '../picture/image-data.ts'
import { jpegCoefficients } from './jpeg-coefficients.ts'
import { pngPixels } from './png-pixels.ts'

/** How two pictures with other bytes are alike.
 * data: their image data are the same, so metadata alone differ. pixels: only how they are packed differs too.
 * other: they are not the same. packed: their image data differ, and nothing tells whether their pixels do.
 * turned: they are not the same, and the host may have turned the picture itself, as its orientation says.
 * unread: the image data of the one that is known are not known, so nothing tells. */
export type Likeness = 'data' | 'pixels' | 'other' | 'turned' | 'packed' | 'unread'

/** Reads what makes a picture. The simulation has one for its own pictures. */
export interface PictureReader {
  data(format: Format, source: ByteSource): Promise<ImageData | null>
  /** A digest of the pixels, however they are packed. Null: not understood. */
  pixels(format: Format, source: ByteSource): Promise<Buffer | null>
}

export const pictureReader: PictureReader = {
  data: imageData,
  pixels: async (format, source) => (await DECODERS[format]?.(source)) ?? null,
}

/** The digests of pixels, by format. For JPEG the coefficients count, because decoders may differ in the pixels. */
const DECODERS: Partial<Record<Format, (source: ByteSource) => Promise<Buffer | null>>> = {
  jpeg: jpegCoefficients,
  png: pngPixels,
}

/** A picture as it lies on the disk. `source`: null when only its image data were recorded. */
export interface KnownPicture {
  format: Format
  data: ImageData | null
  source: ByteSource | null
}

/** Compares a picture with what was delivered in its place and has other bytes. */
export async function likeness(
  reader: PictureReader,
  { format, data, source }: KnownPicture,
  delivered: ByteSource,
): Promise<Likeness> {
  const given = data && (await reader.data(format, delivered))
  if (data === null) return 'unread'
  // Bytes without image data of this format are in another format, or not whole.
  if (given === null) return 'other'
  if (!factsFit(data.facts, given.facts)) return 'other'
  if (data.sum.equals(given.sum)) return 'data'
  const unlike = isUpright(given.facts) && !isUpright(data.facts) ? 'turned' : 'other'
  if (!DECODED.has(format)) return unlike
  const own = data.pixels ?? (source && (await reader.pixels(format, source))?.toString('hex'))
  const theirs = own ? await reader.pixels(format, delivered) : null
  if (!own || !theirs) return 'packed'
  return own === theirs.toString('hex') ? 'pixels' : unlike
}

const DECODED: ReadonlySet<Format> = new Set<Format>(['jpeg', 'png'])

function isUpright({ orientation = 1 }: ImageFacts): boolean {
  return orientation === 1
}

/** Whether each fact is as it was, or missing. A host may add that a picture is not turned. */
function factsFit(own: ImageFacts, given: ImageFacts): boolean {
  const upright = isUpright(given) && isUpright(own)
  const isLost = <T>(fact: T | undefined, before: T | undefined) => fact === undefined || fact === before
  return (
    (upright || isLost(given.orientation, own.orientation)) &&
    isLost(given.icc, own.icc) &&
    isLost(given.transform, own.transform) &&
    (given.trailer === 0 || given.trailer === own.trailer)
  )
}
