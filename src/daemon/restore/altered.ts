import type { ByteSource, Size } from '../../protocol/byte-reader.ts'
import { formatOfMime } from '../../protocol/formats.ts'
import { likeness, pictureReader } from '../../protocol/likeness/likeness.ts'
import type { ImageData } from '../../protocol/picture/image-data.ts'
import { type Picture, readPicture } from '../../protocol/picture/picture.ts'
import { deliveryOf, isAltering, readData } from '../../sync/delivered/index.ts'
import { dimensionsFit } from '../../sync/listing/index.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Alteration, Given, ImageRow } from '../../synced/tables/images.ts'
import type { Delivery } from '../../synced/tables/meta.ts'

/** A recorded image, and what identifies its picture where the host delivers other bytes than it was sent. */
export interface RecordedImage extends ImageRow {
  bytes: Given[]
  delivery: Delivery | undefined
}

export function recordedImage(synced: Synced, image: ImageRow): RecordedImage {
  return { ...image, bytes: synced.images.given(image), delivery: deliveryOf(synced, image.mime) }
}

/** Whether other bytes than the recorded ones can be the picture. */
export function mayBeAltered({ data, delivery }: RecordedImage): boolean {
  return data !== null || isAltering(delivery)
}

/** How the host has altered the picture that it delivers. Null: it seems to be another picture. Equal image data or pixels prove
 * the picture. Without such proof, where the host is known to alter pictures of this type, its record of the image and the
 * dimensions decide. */
export async function alterationOf(
  { data, delivery, mime, proof, width, height }: RecordedImage,
  delivered: ByteSource,
): Promise<Alteration | null> {
  const format = formatOfMime(mime)
  const own = data === null ? null : readData(data)
  const like =
    own && format && (await likeness(pictureReader, { format, data: own, source: null }, delivered))
  const isKept = like === 'data' || like === 'pixels' || (like === 'packed' && delivery === 'packed anew')
  const turned = isKept ? await isTurned(own!, delivered, format!) : 0
  if (like === 'data') return { how: 'stripped', turned }
  if (like === 'pixels') return { how: 'packed', turned }
  const isOther = delivery === 'without metadata' && like !== null
  if (!isAltering(delivery) || isOther || proof === 'none') return null
  const picture = await readPicture(delivered)
  if (!picture || width === null || height === null || !isShapedAs(picture, { width, height, mime }))
    return null
  return isKept ? { how: 'packed', turned } : { how: 'encoded', turned: 0 }
}

/** Whether a picture has the dimensions of what was sent, or smaller ones of the same proportion. A host may turn a picture as
 * EXIF says, and may shrink a large one. */
export function isShapedAs(picture: Picture, sent: Size & { mime: string }): boolean {
  if (dimensionsFit(picture, sent)) return true
  const { width, height } = picture
  if (width === null || height === null || width * height >= sent.width * sent.height) return false
  const off = (one: number, other: number) => Math.abs(width * other - height * one)
  return (
    Math.min(off(sent.width, sent.height), off(sent.height, sent.width)) <= Math.max(sent.width, sent.height)
  )
}

/** Whether the picture is to be turned, and the delivered bytes do not say so any more. */
async function isTurned(
  { facts }: ImageData,
  delivered: ByteSource,
  format: Parameters<typeof pictureReader.data>[0],
): Promise<0 | 1> {
  if ((facts.orientation ?? 1) === 1) return 0
  return (await pictureReader.data(format, delivered))?.facts.orientation === undefined ? 1 : 0
}
