import { because, type Reason } from '../../words/reasons.ts'
import type { DeliveryPort } from '../context.ts'
import { deliveryAddresses } from '../listing/index.ts'
import { deliveryOf, isSame, type Kept, keptBy, learn, readSample } from './learned.ts'
import { type KnownPicture, type Looked, lookAt } from './look.ts'

/** Whether an image is a picture, by what the host delivers.
 * equal: `by` the bytes, the image data, or the pixels however they are packed.
 * other: it is not, and the host keeps what differs, as another picture of the format has shown.
 * unknown: nothing tells, for the reason given; only name and dimensions may. */
export type Comparison =
  | { verdict: 'equal'; by: 'bytes' | 'data' | 'pixels'; cdnUrl: string }
  | { verdict: 'other' }
  | { verdict: 'unknown'; why: Reason }

/** Fetches an image that may be this picture, and compares them. */
export async function compareDelivered(
  context: DeliveryPort,
  image: { remote_id: string; name: string },
  known: KnownPicture,
  signal: AbortSignal,
): Promise<Comparison> {
  const cdnUrl = deliveryAddresses(context.synced)(image.remote_id, image.name)
  if (!cdnUrl) return unknown(because('address_not_known'))
  const looked = await lookAt(context, cdnUrl, known, signal)
  if (looked.kind === 'unknown') return unknown(looked.why)
  if (isSame(looked)) {
    await learn(context, known, looked, signal)
    return { verdict: 'equal', by: looked.kind, cdnUrl }
  }
  // A host may shrink pictures, or deliver the same bytes everywhere, so what it keeps is read again.
  const sample = await readSample(context, known, image.remote_id, signal)
  if (sample?.kind === 'unknown') return unknown(because('sample_not_read', { why: sample.why }))
  const keeps = sample?.keeps ?? keptBy(deliveryOf(context.synced, known.mime))
  if (keeps === null) return unknown(because('delivery_not_shown'))
  return showsOther(looked, keeps) ? { verdict: 'other' } : unknown(because('delivery_alters'))
}

/** Whether a picture that is not delivered is another, as the host keeps what differs. */
function showsOther({ kind }: Looked, keeps: Kept): boolean {
  if (keeps === 'all' || keeps === 'nothing') return keeps === 'all'
  return kind === 'other' || (kind === 'packed' && keeps === 'data')
}

/** Whether an address delivers this picture now. False proves nothing: a cache may have sent another one or a 404. */
export async function delivers(
  context: DeliveryPort,
  cdnUrl: string,
  known: KnownPicture,
  signal: AbortSignal,
): Promise<boolean> {
  return isSame(await lookAt(context, cdnUrl, known, signal))
}

function unknown(why: Reason): Comparison {
  return { verdict: 'unknown', why }
}
