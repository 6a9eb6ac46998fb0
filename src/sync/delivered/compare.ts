import { FORMATS } from '../../protocol/formats.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import type { Delivery } from '../../synced/tables/meta.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import type { DeliveryPort } from '../context.ts'
import { deliveryAddresses } from '../listing/index.ts'
import { deliveryOf, isSame, type Like, learn } from './learned.ts'
import { type KnownPicture, knownOf, type Looked, lookAt, opened, pictureOf } from './look.ts'

/** Whether an image is a picture, by what the host delivers.
 * other: it is not, and the host keeps what differs, as another picture of the format has shown.
 * unknown: nothing tells, for the reason given; only name and dimensions may. */
export type Comparison =
  | { verdict: 'equal'; cdnUrl: string }
  | { verdict: 'other' }
  | { verdict: 'unknown'; why: Reason }

/** Fetches an image that may be this picture, and compares them. `cdn_url`: left out or null: as others are addressed. */
export async function compareDelivered(
  context: DeliveryPort,
  image: { remote_id: string; name: string; cdn_url?: string | null },
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
  return showsOther(looked.kind, delivery) ? { verdict: 'other' } : unknown(because('delivery_alters'))
}

/** Whether another picture was delivered, and nothing shows that the host keeps what differs. */
export function mayBeAltered(why: Reason): boolean {
  return MAY_ALTER.has(codeOf(why))
}

const MAY_ALTER: ReadonlySet<string> = new Set(['delivery_alters', 'delivery_not_shown'])

function unknown(why: Reason): Comparison {
  return { verdict: 'unknown', why }
}

/** Whether a picture that is not delivered is another, where the host delivers so. */
function showsOther(like: Like, delivery: Delivery): boolean {
  if (delivery === 'as sent' || delivery === 'encoded anew') return delivery === 'as sent'
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
      const looked = await lookAt(context, cdnUrl, knownOf(open, { mime }), signal)
      if (looked.kind === 'unknown') continue
      if (isSame(looked.kind) || (looked.kind === 'other' && ++unlike === OTHERS))
        return void (await learn(synced, mime, looked.kind))
    } finally {
      open.close()
    }
  }
}
