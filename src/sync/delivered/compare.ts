import { asItLies } from '../../local/sent-picture.ts'
import { FORMATS } from '../../protocol/formats.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import type { Bytes, ImageRow } from '../../synced/tables/images.ts'
import type { Delivery } from '../../synced/tables/meta.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import type { DeliveryPort } from '../context.ts'
import { deliveryAddresses, sizeFits } from '../listing/index.ts'
import { deliveryOf, isIt, isSame, type Like, learn, readData } from './learned.ts'
import { type KnownPicture, knownOf, type Looked, lookAt, opened, pictureOf } from './look.ts'

/** Whether an image is a picture, by what the host delivers.
 * equal: it is. `bytes`: what it was sent as: the picture's own bytes, or a file's with the metadata that are taken out now.
 * `like`: what shows it.
 * other: it is not: another picture of the format has shown that the host keeps what differs here.
 * unknown: nothing tells, for the reason given; only name and dimensions may. */
export type Comparison =
  | { verdict: 'equal'; cdnUrl: string; bytes: Bytes; like: Like }
  | { verdict: 'other' }
  | { verdict: 'unknown'; why: Reason }

/** Fetches an image that may be this picture, and compares them. `cdn_url`: left out or null: the address is built like others.
 * `listedSize`: the size that the host lists, if any. */
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
  const equal = async (): Promise<Comparison> => {
    const { kind: like } = looked
    await learn(synced, known.mime, like)
    return { verdict: 'equal', cdnUrl, bytes: like === 'with metadata' ? looked : known, like }
  }
  if (isIt(synced, known.mime, looked.kind)) return equal()
  if (known.isMadeAnew) return unknown(because('delivery_alters'))
  // What the host keeps of pictures is read again, from the last picture of the type that surely is an image: a host may have
  // begun to shrink pictures, or deliver the same bytes everywhere. A host that turns pictures may keep all others.
  const { mime, size } = known
  const samples = synced.images.samples({ mime, size, besides: image.remote_id, most: SAMPLES })
  const sample = looked.kind === 'turned' ? samples.find(isTurned) : samples[0]
  const like = looked.kind === 'turned' && sample ? 'other' : looked.kind
  const address = sample && addressOf(sample.remote_id, sample.name)
  const shown = address ? await learnFrom(context, pictureOf(synced, sample), address, signal) : null
  if (shown?.kind === 'unknown') return unknown(because('sample_not_read', { why: shown.why }))
  const delivery = shown?.delivery ?? deliveryOf(synced, mime)
  if (delivery === undefined) return unknown(because('delivery_not_shown'))
  if (isIt(synced, mime, looked.kind)) return equal()
  // A smaller picture does not show what becomes of a larger one, nor does a delivery in another size than the listed one. A
  // host may list the sizes of what it has made of pictures, so only a listed size that is the picture's own shows anything.
  const { listedSize } = image
  const isOwnSize = listedSize !== undefined && sizeFits(listedSize, size)
  const isKept = isOwnSize ? sizeFits(listedSize, looked.size) : isAsLarge(sample, known)
  return showsOther(like, delivery, isKept) ? { verdict: 'other' } : unknown(because('delivery_alters'))
}

function isTurned({ data }: ImageRow): boolean {
  return data !== null && (readData(data).facts.orientation ?? 1) !== 1
}

/** Whether this sample shows that the host keeps the picture as it is: the sample is at least as large. */
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

/** Whether a delivery proves another picture, where the host delivers so. `isKept`: it keeps this one, if it keeps the sample. */
function showsOther(like: Like, delivery: Delivery, isKept: boolean): boolean {
  if (delivery === 'as sent' || delivery === 'encoded anew') return delivery === 'as sent' && isKept
  return like === 'other' || (like === 'packed' && delivery === 'without metadata')
}

/** Compares an image with its own picture, and learns from that how the host delivers. */
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

/** How many pictures of a type are looked at before giving up, until one has something that the host could take away. */
const SAMPLES = 3

/** Learns again how the host delivers pictures of each format, from the last ones that surely are images. */
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

/** How many pictures, of at most OTHERS_MOST, must be unlike what their images deliver to show that the host encodes anew. */
const OTHERS = 2
const OTHERS_MOST = 4

/** After a state loss: compares images with the files of their names, until one is the same. When several were compared and none
 * is, the host encodes pictures of this type anew. */
export async function learnFromOthers(
  context: DeliveryPort,
  others: readonly { image: { id: string; name?: string | undefined }; file: FileKey }[],
  mime: string,
  signal: AbortSignal,
): Promise<void> {
  const { synced } = context
  let unlike = 0
  for (const { image, file } of others.slice(0, OTHERS_MOST)) {
    const like = await lookAtFile(context, image, file, signal, mime)
    if (like === null) continue
    if (isSame(like) || ((like === 'other' || like === 'turned') && ++unlike === OTHERS))
      return void (await learn(synced, mime, like))
  }
}

/** Compares what an image delivers with a file as it lies there. Null: one of them can't be had, or the file is of another type
 * than `mime`. */
export async function lookAtFile(
  context: DeliveryPort,
  { id, name = '' }: { id: string; name?: string | undefined },
  file: FileKey,
  signal: AbortSignal,
  mime?: string,
): Promise<Like | null> {
  const cdnUrl = deliveryAddresses(context.synced)(id, name)
  const open = cdnUrl && (await opened(context, [file], signal))
  if (!open) return null
  try {
    const { picture } = open
    if (picture === null || picture.mime !== (mime ?? picture.mime)) return null
    const looked = await lookAt(context, cdnUrl, knownOf({ open, sent: asItLies(open), picture }), signal)
    return looked.kind === 'unknown' ? null : looked.kind
  } finally {
    open.close()
  }
}
