import type { Format } from '../formats.ts'
import type { ByteSource } from './byte-reader.ts'
import { gifData, pngData, webpData } from './chunk-data.ts'
import type { Fold, ImageData } from './image-facts.ts'
import { jpegData } from './jpeg-data.ts'

const FOLDS: Partial<Record<Format, Fold>> = { jpeg: jpegData, png: pngData, gif: gifData, webp: webpData }

/** The image data of a picture. Null: not understood, so that only all its bytes tell whether it is the same as another. */
export async function imageData(format: Format, source: ByteSource): Promise<ImageData | null> {
  return (await FOLDS[format]?.(source)) ?? null
}
