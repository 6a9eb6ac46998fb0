import { PictureFileError } from '../../local/open-file.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import { isConverted } from '../../local/sent-picture.ts'
import { type ByteSource, sourceOfBytes } from '../../protocol/byte-reader.ts'
import { type Format, formatOfMime } from '../../protocol/formats.ts'
import { likeness } from '../../protocol/likeness/likeness.ts'
import { hasImageData } from '../../protocol/picture/image-data.ts'
import type { ReadPicture } from '../../records/pictures.ts'
import { locationOf } from '../../records/versions.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import type { Bytes, ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { DeliveryPort } from '../context.ts'
import { deliveryOf, isIt, type Like, readData } from './learned.ts'

/** A picture as albumd knows it. */
export interface KnownPicture extends Bytes, Pick<ImageRow, 'mime' | 'width' | 'height'> {
  /** Its image data, as `writeData` writes them. Null or left out: not recorded. */
  data?: string | null
  /** What is sent of the picture while it is open, or the files that may have its bytes. */
  at: Pick<OpenPicture, 'source'> | readonly FileKey[]
  /** The bytes of files from which these were made. */
  madeOf?: readonly Buffer[]
  /** The image may have other bytes of it, by another version of what makes them. */
  isMadeAnew?: boolean
}

export function knownOf({ open, sent, picture: { mime, width, height } }: ReadPicture): KnownPicture {
  return {
    hash: sent.hash,
    size: sent.size,
    mime,
    width,
    height,
    at: sent,
    madeOf: [open.hash],
    isMadeAnew: isConverted(sent),
  }
}

/** The picture from which an image was made. */
export function pictureOf({ files, images }: Synced, image: ImageRow): KnownPicture {
  const { hash, size, mime, width, height, data, id } = image
  const madeOf = images.given(image).flatMap(bytes => (bytes.how === null ? [bytes.hash] : []))
  const isMadeAnew = image.proof === 'none' && isConverted(image)
  return { hash, size, mime, width, height, data, at: files.onImage(id), madeOf, isMadeAnew }
}

/** The picture that an upload in doubt has sent. */
export function sentFor(intent: OpenUpload): KnownPicture {
  const { hash, size, mime, width, height, file_hash } = intent
  return { hash, size, mime, width, height, at: [intent], madeOf: [file_hash] }
}

/** The result of a look. `size` and `hash`: of what was delivered. */
export type Looked = ({ kind: Like } & Bytes) | { kind: 'unknown'; why: Reason }

/** The most bytes that are read of an image that is larger than the picture. */
const MOST_OTHER = 64 * 2 ** 20
/** The largest picture whose image data are compared, in memory. Of a larger one only the bytes are compared. */
const MOST_HELD = 32 * 2 ** 20

/** Fetches what an address delivers, and compares it with a picture: first bytes, then image data, then pixels. */
export async function lookAt(
  context: DeliveryPort,
  cdnUrl: string,
  known: KnownPicture,
  signal: AbortSignal,
): Promise<Looked> {
  const { host, pictures, synced } = context
  const held: Uint8Array[] = []
  let size = 0
  const take = (chunk: Uint8Array) => {
    size += chunk.byteLength
    if (size <= MOST_HELD) held.push(chunk)
  }
  const most = Math.max(known.size, MOST_OTHER)
  const given = await host.fetchDelivered(cdnUrl, most, signal, take)
  if (!given.ok) return { kind: 'unknown', why: given.message }
  if (given.status !== 200)
    return { kind: 'unknown', why: because('address_answered', { status: given.status }) }
  const { sha256: hash } = given
  if (isOfFile(known, hash)) return { kind: 'with metadata', size, hash }
  const format = formatOfMime(known.mime)
  const delivered = size <= MOST_HELD ? sourceOfBytes(Buffer.concat(held)) : null
  if (given.size === known.size && hash.equals(known.hash)) {
    const isTold = format === null || !hasImageData(format) || deliveryOf(synced, known.mime) === 'as sent'
    const data = isTold ? null : delivered && (await pictures.data(format, delivered))
    return { kind: isTold || data?.bare === false ? 'bytes' : 'bare', size, hash }
  }
  if (format === null || delivered === null) return { kind: 'unread', size, hash }
  return { kind: await likeTo(context, { ...known, format }, delivered, signal), size, hash }
}

async function likeTo(
  context: DeliveryPort,
  { at, hash, madeOf = [], data: recorded, format }: KnownPicture & { format: Format },
  delivered: ByteSource,
  signal: AbortSignal,
): Promise<Like> {
  const { pictures } = context
  // Metadata are no image data, so a file from which the picture was made tells the same.
  const open = 'source' in at ? null : await opened(context, at, signal, [hash, ...madeOf])
  try {
    const source = 'source' in at ? at.source : open?.picture ? open.source : null
    const data = recorded ? readData(recorded) : source && (await pictures.data(format, source))
    const like = await likeness(pictures, { format, data, source }, delivered)
    // What is made has less than the file. So where more is delivered, it was sent before that, perhaps with other metadata.
    const isMade = madeOf.some(file => !file.equals(hash))
    const hasMore = isMade && like === 'data' && (await pictures.data(format, delivered))?.bare === false
    return hasMore ? 'with metadata' : like
  } finally {
    open?.close()
  }
}

/** Whether these are the bytes of a file from which the picture was made, so that the host has it with its metadata. */
function isOfFile({ hash, madeOf = [] }: KnownPicture, delivered: Buffer): boolean {
  return !delivered.equals(hash) && madeOf.some(file => delivered.equals(file))
}

/** Whether an address delivers this picture now. False proves nothing: a cache may have sent another picture or a 404. */
export async function delivers(
  context: DeliveryPort,
  cdnUrl: string,
  known: KnownPicture,
  signal: AbortSignal,
): Promise<boolean> {
  const { kind } = await lookAt(context, cdnUrl, known, signal)
  return kind !== 'unknown' && kind !== 'with metadata' && isIt(context.synced, known.mime, kind)
}

/** Opens the first of the files that can be read. With `hashes`, the first one that has such bytes. */
export async function opened(
  { synced, openPicture }: DeliveryPort,
  files: readonly FileKey[],
  signal: AbortSignal,
  hashes?: readonly Buffer[],
): Promise<OpenPicture | null> {
  for (const file of files) {
    const { mirror, path } = locationOf(synced, file)
    try {
      const open = await openPicture(synced.mirrors.byId(mirror)!.folder, path, signal)
      if (!hashes || hashes.some(hash => open.hash.equals(hash))) return open
      open.close()
    } catch (error) {
      if (!(error instanceof PictureFileError)) throw error
    }
  }
  return null
}
