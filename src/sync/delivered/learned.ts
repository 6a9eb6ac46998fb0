import { PictureFileError } from '../../local/open-file.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import { FORMATS, formatOfMime } from '../../protocol/formats.ts'
import { writeData } from '../../protocol/picture/image-data.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import type { ListedImage } from '../../protocol/records.ts'
import type { Synced } from '../../synced/synced.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import type { Delivery } from '../../synced/tables/meta.ts'
import type { Reason } from '../../words/reasons.ts'
import type { DeliveryPort } from '../context.ts'
import { canBe, deliveryAddresses } from '../listing/index.ts'
import { isBare, type KnownPicture, type Looked, lookAt, pictureOf } from './look.ts'

/** What a host that delivers a picture so keeps of others of its format.
 * all: each byte. data: image data. pixels: how they look. nothing: it encodes them anew. */
export type Kept = 'all' | 'data' | 'pixels' | 'nothing'

const DELIVERIES: Readonly<Partial<Record<Looked['kind'], Delivery>>> = {
  bytes: 'as sent',
  data: 'without metadata',
  pixels: 'packed anew',
  other: 'encoded anew',
  packed: 'encoded anew',
}

type Same = Extract<Looked['kind'], 'bytes' | 'data' | 'pixels'>

export function isSame(looked: Looked): looked is { kind: Same } {
  return looked.kind === 'bytes' || looked.kind === 'data' || looked.kind === 'pixels'
}

/** How the host delivers pictures of this type; undefined: no delivery has shown it. */
export function deliveryOf({ meta }: Pick<Synced, 'meta'>, mime: string): Delivery | undefined {
  const format = formatOfMime(mime)
  return format === null ? undefined : meta.get('delivery')?.[format]
}

const KEPT: Readonly<Record<Delivery, Kept>> = {
  'as sent': 'all',
  'without metadata': 'data',
  'packed anew': 'pixels',
  'encoded anew': 'nothing',
}

export function keptBy(delivery: Delivery | undefined): Kept | null {
  return delivery === undefined ? null : KEPT[delivery]
}

/** Whether the host is known to deliver pictures of this type otherwise than they were sent. */
export function isAltered(synced: Pick<Synced, 'meta'>, mime: string): boolean {
  return isAltering(deliveryOf(synced, mime))
}

export function isAltering(delivery: Delivery | undefined): boolean {
  return delivery !== undefined && delivery !== 'as sent'
}

/** Whether a listed image may be that of an upload in doubt. */
export function mayHaveSent(synced: Synced, intent: OpenUpload, listed: ListedImage): boolean {
  return canBe(listed, intent, { sizes: !isAltered(synced, intent.mime) })
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
      const known = pictureOf(synced, sample)
      const looked = cdn_url === null ? null : await lookAt(context, cdn_url, known, signal)
      if (looked === null || looked.kind === 'unknown') continue
      // Bytes alone that show no more than image data are those of a picture with nothing to take away.
      const keeps = await learn(context, known, looked, signal)
      if (looked.kind !== 'bytes' || keeps === 'all') break
    }
}

/** Learns from the delivery of a picture that is the image's for sure. Returns what the host keeps. A picture with nothing to
 * take away does not show that the host keeps all. */
export async function learn(
  context: DeliveryPort,
  known: KnownPicture,
  { kind }: Exclude<Looked, { kind: 'unknown' }>,
  signal: AbortSignal,
): Promise<Kept> {
  const { synced } = context
  const delivery = DELIVERIES[kind]
  const before = deliveryOf(synced, known.mime)
  const isAsBefore = delivery === before
  const showsAll = kind === 'bytes' && (isAsBefore || !(await isBare(context, known, signal)))
  const learned = kind === 'bytes' && !showsAll ? withoutAlteration(before) : delivery
  const format = formatOfMime(known.mime)
  if (format !== null && kind !== 'unread' && learned !== before)
    await synced.commit(tx => {
      const { [format]: _, ...others } = tx.meta.get('delivery') ?? {}
      tx.meta.set('delivery', learned === undefined ? others : { ...others, [format]: learned })
    })
  if (kind === 'bytes') return showsAll ? 'all' : 'data'
  return kind === 'data' || kind === 'pixels' ? kind : 'nothing'
}

/** The image data to record of a picture. Null where all bytes will tell, or nothing will. `isLinked`: of an image whose bytes
 * nobody has compared yet, for which the picture itself may be gone by then. */
export async function dataToRecord(
  { synced, pictures }: Pick<DeliveryPort, 'synced' | 'pictures'>,
  { bare, source }: OpenPicture,
  { format, mime }: Picture,
  isLinked = false,
): Promise<string | null> {
  const delivery = deliveryOf(synced, mime)
  const isNeeded = delivery === undefined ? !bare : delivery !== 'as sent' && delivery !== 'encoded anew'
  if (!isNeeded && !isLinked) return null
  const data = await pictures.data(format, source)
  return data && writeData(data)
}

/** Looks at the first pictures that the host took: how it delivers one of this format that has something to take away. */
export async function learnFirst(
  context: DeliveryPort,
  known: KnownPicture & { at: OpenPicture },
  cdnUrl: string,
  signal: AbortSignal,
): Promise<void> {
  if (known.at.bare || deliveryOf(context.synced, known.mime) !== undefined) return
  const looked = await lookAt(context, cdnUrl, known, signal)
  if (looked.kind !== 'unknown') await learn(context, known, looked, signal)
}

/** How many pictures that are others than their images show that a host encodes anew, after so many at most. */
const OTHERS = 2
const OTHERS_MOST = 4

/** After a state loss: looks at images that have the names of pictures below `root`, until one is the same. When several are
 * looked at and none is, the host encodes pictures of this type anew. */
export async function learnFromOthers(
  context: DeliveryPort,
  root: string,
  others: readonly { image: { id: string; name?: string | undefined }; path: string }[],
  mime: string,
  signal: AbortSignal,
): Promise<void> {
  let unlike = 0
  for (const { image, path } of others.slice(0, OTHERS_MOST)) {
    const cdnUrl = deliveryAddresses(context.synced)(image.id, image.name ?? '')
    const known = cdnUrl && (await readAt(context, root, path, signal))
    if (!known) continue
    try {
      const looked = known.mime === mime ? await lookAt(context, cdnUrl, known, signal) : NOT_ASKED
      if (isSame(looked)) return void (await learn(context, known, looked, signal))
      if (looked.kind === 'other' && ++unlike === OTHERS)
        return void (await learn(context, known, looked, signal))
    } finally {
      known.at.close()
    }
  }
}

const NOT_ASKED = { kind: 'unread' } as const

async function readAt({ openPicture }: DeliveryPort, root: string, path: string, signal: AbortSignal) {
  try {
    const at = await openPicture(root, path, signal)
    return { hash: at.hash, size: at.look.size, mime: at.picture?.mime ?? '', at }
  } catch (error) {
    if (error instanceof PictureFileError) return null
    throw error
  }
}

/** What stays of it when a picture with nothing to take away is delivered as it was sent. */
function withoutAlteration(before: Delivery | undefined): Delivery | undefined {
  return before === 'without metadata' ? before : undefined
}

/** Reads again how the host delivers pictures of a type, from the last that is an image for sure, besides one. Null: none. */
export async function readSample(
  context: DeliveryPort,
  { mime, size }: Pick<KnownPicture, 'mime' | 'size'>,
  besides: string,
  signal: AbortSignal,
): Promise<{ kind: 'read'; keeps: Kept } | { kind: 'unknown'; why: Reason } | null> {
  const { synced } = context
  const [sample] = synced.images.samples({ mime, size, besides, most: 1 })
  const cdnUrl = sample && deliveryAddresses(synced)(sample.remote_id, sample.name)
  if (!cdnUrl) return null
  const known = pictureOf(synced, sample)
  const looked = await lookAt(context, cdnUrl, known, signal)
  if (looked.kind === 'unknown') return looked
  return { kind: 'read', keeps: await learn(context, known, looked, signal) }
}
