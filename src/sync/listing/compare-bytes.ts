import type { ImageHost } from '../../remote/host.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { type AddressOf, deliveryAddresses } from './delivery.ts'

/** What identifies a picture by its bytes: its SHA-256 and its size in bytes. */
export interface Bytes {
  hash: Buffer
  size: number
}

/** What fetching an image from its delivery address has shown about a picture. */
export type Comparison =
  | { verdict: 'equal'; cdnUrl: string }
  | { verdict: 'other' }
  /** `why`: what kept the bytes from being compared. */
  | { verdict: 'unknown'; why: Reason }

/** Whether a delivery address gives these bytes now. Other bytes or a 404 prove nothing, because a cache may have sent them. */
export async function delivers(
  host: ImageHost,
  cdnUrl: string,
  { hash, size }: Bytes,
  signal: AbortSignal,
): Promise<boolean> {
  const given = await host.fetchDelivered(cdnUrl, size, signal)
  return given.ok && given.status === 200 && given.size === size && given.sha256.equals(hash)
}

/** Fetches an image that may be this picture, and compares its bytes with the picture's. */
export async function compareBytes(
  { synced, host }: Pick<EngineContext, 'synced' | 'host'>,
  image: { remote_id: string; name: string },
  picture: Bytes,
  signal: AbortSignal,
): Promise<Comparison> {
  const addressOf = deliveryAddresses(synced)
  const cdnUrl = addressOf(image.remote_id, image.name)
  if (!cdnUrl) return { verdict: 'unknown', why: because('address_not_known') }
  const given = await host.fetchDelivered(cdnUrl, Math.max(picture.size, MOST_OTHER), signal)
  if (!given.ok) return { verdict: 'unknown', why: given.message }
  if (given.status !== 200)
    return { verdict: 'unknown', why: because('address_answered', { status: given.status }) }
  if (given.size === picture.size && given.sha256.equals(picture.hash)) return { verdict: 'equal', cdnUrl }
  return (await deliversAsSent(host, addressOf, synced.images.latestUploaded(), signal))
    ? { verdict: 'other' }
    : { verdict: 'unknown', why: because('delivery_alters') }
}

/** How many bytes of an image are read at most, when the image is larger than the picture. */
const MOST_OTHER = 64 * 2 ** 20

/**
 * Whether the host delivers an uploaded image unchanged, at an address that is built in the same way as the address of the
 * compared image. When the host makes images smaller on delivery, or answers every such address with the same bytes, every
 * image would seem to differ from its picture.
 */
async function deliversAsSent(
  host: ImageHost,
  addressOf: AddressOf,
  ours: ImageRow | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const cdnUrl = ours && addressOf(ours.remote_id, ours.name)
  return cdnUrl != null && delivers(host, cdnUrl, ours!, signal)
}
