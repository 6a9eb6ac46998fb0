import { formatOfMime } from '../../protocol/formats.ts'
import type { Likeness } from '../../protocol/likeness/likeness.ts'
import type { ImageData } from '../../protocol/picture/image-data.ts'
import type { ListedImage } from '../../protocol/records.ts'
import type { ReadPicture } from '../../records/pictures.ts'
import type { Synced } from '../../synced/synced.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import type { Delivery } from '../../synced/tables/meta.ts'
import type { DeliveryPort } from '../context.ts'
import { canBe } from '../listing/index.ts'

/** In what way a delivered picture is like the one that was sent. bytes: the same bytes. bare: the same bytes, of a picture that
 * is not known to hold anything that a host could remove without touching the image data. with
 * metadata: the bytes of the file, of which others are sent. */
export type Like = 'bytes' | 'bare' | 'with metadata' | Likeness

/** What one picture shows at least of how the host delivers others of its format. */
const SHOWS: Readonly<Record<Like, Delivery>> = {
  bytes: 'as sent',
  'with metadata': 'as sent',
  bare: 'without metadata',
  data: 'without metadata',
  pixels: 'packed anew',
  other: 'encoded anew',
  turned: 'encoded anew',
  packed: 'encoded anew',
  unread: 'encoded anew',
}

export function isSame(like: Like): boolean {
  return SHOWS[like] !== 'encoded anew'
}

/** Whether a delivery shows that the image is the picture. Where the host delivers as sent, other bytes are those of before an
 * edit, even if only metadata differ. */
export function isIt(synced: Pick<Synced, 'meta'>, mime: string, like: Like): boolean {
  return isSame(like) && !(isLess(like) && deliveryOf(synced, mime) === 'as sent')
}

/** Whether the picture is the same, and its bytes are not. */
export function isLess(like: Like): boolean {
  return like === 'data' || like === 'pixels'
}

/** How the host delivers pictures of this type. Undefined: no delivery has shown it. */
export function deliveryOf({ meta }: Pick<Synced, 'meta'>, mime: string): Delivery | undefined {
  const format = formatOfMime(mime)
  return format === null ? undefined : meta.get('delivery')?.[format]
}

/** Whether the host is known to deliver pictures of this type otherwise than they were sent. */
export function isAltered(synced: Pick<Synced, 'meta'>, mime: string): boolean {
  return isAltering(deliveryOf(synced, mime))
}

export function isAltering(delivery: Delivery | undefined): boolean {
  return delivery !== undefined && delivery !== 'as sent'
}

/** Whether a listed image may be that of an upload in doubt. Its size counts only where the host keeps such pictures as sent. */
export function mayHaveSent(synced: Synced, intent: OpenUpload, listed: ListedImage): boolean {
  return canBe(listed, intent, { sizes: deliveryOf(synced, intent.mime) === 'as sent' })
}

/** Learns how the host delivers from a picture that surely is the image's. Returns what this shows. A picture with nothing to
 * remove shows only that the host encodes and packs nothing anew. */
export async function learn(synced: Synced, mime: string, like: Like): Promise<Delivery> {
  const before = deliveryOf(synced, mime)
  const format = formatOfMime(mime)
  const shown = SHOWS[like]
  const learned = like === 'bare' && before !== shown ? undefined : shown
  if (format !== null && like !== 'unread' && learned !== before)
    await synced.commit(tx => {
      const { [format]: _, ...others } = tx.meta.get('delivery') ?? {}
      tx.meta.set('delivery', learned === undefined ? others : { ...others, [format]: learned })
    })
  return shown
}

/** Image data as a text to record. */
function writeData({ sum, ...rest }: ImageData): string {
  return JSON.stringify({ sum: sum.toString('hex'), ...rest })
}

/** `text`: what `writeData` has written. */
export function readData(text: string): ImageData {
  const { sum, ...rest } = JSON.parse(text)
  return { sum: Buffer.from(sum, 'hex'), ...rest }
}

/** The image data to record of a picture; with its pixels, where the host packs anew. Null where its bytes are enough, or nothing
 * would help. `isLinked`: nobody has compared the image's bytes yet, and the picture may be gone when somebody does. */
export async function dataToRecord(
  { synced, pictures }: Pick<DeliveryPort, 'synced' | 'pictures'>,
  { sent: { source }, picture: { format, mime } }: ReadPicture,
  isLinked = false,
): Promise<string | null> {
  const delivery = deliveryOf(synced, mime)
  if ((delivery === 'as sent' || delivery === 'encoded anew') && !isLinked) return null
  const data = await pictures.data(format, source)
  const pixels = data && delivery === 'packed anew' ? await pictures.pixels(format, source) : null
  return data && writeData({ ...data, ...(pixels && { pixels: pixels.toString('hex') }) })
}
