import { FORMATS } from '../../protocol/formats.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { Delivery } from '../../synced/tables/meta.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import type { DeliveryPort } from '../context.ts'
import { deliveryAddresses, sizeFits } from '../listing/index.ts'
import { deliveryOf, isSame, type Like, learn } from './learned.ts'
import { type KnownPicture, knownOf, type Looked, lookAt, opened, pictureOf } from './look.ts'

/** Whether an image is a picture, by what the host delivers.
 * other: it is not, and the host keeps what differs, as another picture of the format has shown.
 * unknown: nothing tells, for the reason given; only name and dimensions may. */
export type Comparison =
  | { verdict: 'equal'; cdnUrl: string }
  | { verdict: 'other' }
  | { verdict: 'unknown'; why: Reason }

/** Fetches an image that may be this picture, and compares them. `cdn_url`: left out or null: as others are addressed.
 * `listedSize`: the size as the host lists it, where it does. */
export async function compareDelivered(
  context: DeliveryPort,
  image: { remote_id: string; name: string; cdn_url?: string | null; listedSize?: string | undefined },
  known: KnownPicture,
  signal: AbortSignal,
): Promise<Comparison> {
  const { synced } = context
  const addressOf = deliveryAddresses(synced)
  const cdnUrl = image.cdn_url ?? addressOf(image.remote_id, image.name)
  if (!cdnUrl) return unknown(because('address_not_known'))
  const looked = await lookAt(context, cdnUrl, known, signal)
  if (looked.kind === 'unknown') return unknown(looked.why)
  if (isSame(looked.kind)) {
    await learn(synced, known.mime, looked.kind)
    return { verdict: 'equal', cdnUrl }
  }
  // A host may shrink pictures, or deliver the same bytes everywhere, so what it keeps is read again from the last picture of
  // the type that is an image for sure.
  const { mime, size } = known
  const [sample] = synced.images.samples({ mime, size, besides: image.remote_id, most: 1 })
  const address = sample && addressOf(sample.remote_id, sample.name)
  const shown = address ? await learnFrom(context, pictureOf(synced, sample), address, signal) : null
  if (shown?.kind === 'unknown') return unknown(because('sample_not_read', { why: shown.why }))
  const delivery = shown?.delivery ?? deliveryOf(synced, mime)
  if (delivery === undefined) return unknown(because('delivery_not_shown'))
  // Nor may what becomes of a picture be told by a smaller one, or of what is delivered in another size than is listed.
  const { listedSize } = image
  const isKept = listedSize === undefined ? isAsLarge(sample, known) : sizeFits(listedSize, looked.size)
  return showsOther(looked.kind, delivery, isKept)
    ? { verdict: 'other' }
    : unknown(because('delivery_alters'))
}

/** Whether a host that keeps the sample as it is keeps this picture so, too, however large it may be. */
function isAsLarge(sample: ImageRow | undefined, { size, width, height }: KnownPicture): boolean {
  const covers = (a: number | null, b: number | null) => a === null || b === null || a >= b
  return !!sample && sample.size >= size && covers(sample.width, width) && covers(sample.height, height)
}

/** Whether another picture was delivered, and nothing shows that the host keeps what differs. */
export function mayBeAltered(why: Reason): boolean {
  return MAY_ALTER.has(codeOf(why))
}

const MAY_ALTER: ReadonlySet<string> = new Set(['delivery_alters', 'delivery_not_shown'])

function unknown(why: Reason): Comparison {
  return { verdict: 'unknown', why }
}

/** Whether a picture that is not delivered is another, where the host delivers so. `isKept`: as the sample is, if that is. */
function showsOther(like: Like, delivery: Delivery, isKept: boolean): boolean {
  if (delivery === 'as sent' || delivery === 'encoded anew') return delivery === 'as sent' && isKept
  return like === 'other' || (like === 'packed' && delivery === 'without metadata')
}

/** Looks at the image of a picture, which it is for sure, and learns from it. */
export async function learnFrom(
  context: DeliveryPort,
  known: KnownPicture,
  cdnUrl: string,
  signal: AbortSignal,
): Promise<{ kind: Like; delivery: Delivery } | Extract<Looked, { kind: 'unknown' }>> {
  const looked = await lookAt(context, cdnUrl, known, signal)
  if (looked.kind === 'unknown') return looked
  return { ...looked, delivery: await learn(context.synced, known.mime, looked.kind) }
}

/** So many pictures of a type are looked at, until one has something to take away. */
const SAMPLES = 3

/** Reads again how the host delivers pictures of each format, from the last that are images for sure. */
export async function learnAgain(context: DeliveryPort, signal: AbortSignal): Promise<void> {
  const { synced } = context
  for (const { mime } of Object.values(FORMATS))
    for (const sample of synced.images.samples({ mime, size: 0, besides: '', most: SAMPLES })) {
      if (signal.aborted) return
      const { cdn_url } = sample
      const shown = cdn_url && (await learnFrom(context, pictureOf(synced, sample), cdn_url, signal))
      if (shown && shown.kind !== 'unknown' && shown.kind !== 'bare') break
    }
}

/** How many pictures that are others than their images show that a host encodes anew, after so many at most. */
const OTHERS = 2
const OTHERS_MOST = 4

/** After a state loss: looks at images that have the names of other files, until one is the same. When several are looked at
 * and none is, the host encodes pictures of this type anew. */
export async function learnFromOthers(
  context: DeliveryPort,
  others: readonly { image: { id: string; name?: string | undefined }; file: FileKey }[],
  mime: string,
  signal: AbortSignal,
): Promise<void> {
  const { synced } = context
  let unlike = 0
  for (const { image, file } of others.slice(0, OTHERS_MOST)) {
    const cdnUrl = deliveryAddresses(synced)(image.id, image.name ?? '')
    const open = cdnUrl && (await opened(context, [file], signal))
    if (!open) continue
    try {
      if (open.picture?.mime !== mime) continue
      const looked = await lookAt(context, cdnUrl, knownOf(open, open.picture), signal)
      if (looked.kind === 'unknown') continue
      if (isSame(looked.kind) || (looked.kind === 'other' && ++unlike === OTHERS))
        return void (await learn(synced, mime, looked.kind))
    } finally {
      open.close()
    }
  }
}
