import { PictureFileError } from '../../local/open-file.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import { formatOfMime } from '../../protocol/formats.ts'
import { type Likeness, likeness } from '../../protocol/likeness/likeness.ts'
import { type ByteSource, sourceOfBytes } from '../../protocol/picture/byte-reader.ts'
import type { ImageData } from '../../protocol/picture/data-fold.ts'
import { hasImageData, readData } from '../../protocol/picture/image-data.ts'
import { locationOf } from '../../records/versions.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import type { Bytes, ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { DeliveryPort } from '../context.ts'

/** A picture as albumd knows it. */
export interface KnownPicture extends Bytes {
  mime: string
  /** Its image data, as `writeData` writes them. Left out or null: not recorded. */
  data?: string | null
  /** The picture while it is open, or the files that may have its bytes. */
  at: OpenPicture | readonly FileKey[]
}

/** The picture that an image was made of. */
export function pictureOf({ files }: Synced, image: ImageRow): KnownPicture {
  const { hash, size, mime, data, id } = image
  return { hash, size, mime, data, at: files.onImage(id) }
}

/** The picture that an upload in doubt has sent. */
export function sentFor(intent: OpenUpload): KnownPicture {
  const { hash, size, mime } = intent
  return { hash, size, mime, at: [intent] }
}

/** How what an address delivers is like a picture. bytes: it has the same bytes. */
export type Looked = { kind: 'bytes' | Likeness } | { kind: 'unknown'; why: Reason }

/** How many bytes are read at most of an image that is larger than the picture. */
const MOST_OTHER = 64 * 2 ** 20
/** A larger picture is told by its bytes alone, because what is compared is held in memory. */
const MOST_HELD = 32 * 2 ** 20

/** Fetches what an address delivers, and compares it with a picture: first bytes, then image data, then pixels. */
export async function lookAt(
  context: DeliveryPort,
  cdnUrl: string,
  known: KnownPicture,
  signal: AbortSignal,
): Promise<Looked> {
  const held: Uint8Array[] = []
  let size = 0
  const take = (chunk: Uint8Array) => {
    size += chunk.byteLength
    if (size <= MOST_HELD) held.push(chunk)
  }
  const most = Math.max(known.size, MOST_OTHER)
  const given = await context.host.fetchDelivered(cdnUrl, most, signal, take)
  if (!given.ok) return { kind: 'unknown', why: given.message }
  if (given.status !== 200)
    return { kind: 'unknown', why: because('address_answered', { status: given.status }) }
  if (given.size === known.size && given.sha256.equals(known.hash)) return { kind: 'bytes' }
  const format = formatOfMime(known.mime)
  if (format === null || size > MOST_HELD) return { kind: 'unread' }
  return withPicture(context, known, signal, async ({ data, source }) => ({
    kind: await likeness(context.pictures, { format, data, source }, sourceOfBytes(Buffer.concat(held))),
  }))
}

/** Whether the host can have taken nothing away from a picture without touching its image data. True where that is not known. */
export function isBare(context: DeliveryPort, known: KnownPicture, signal: AbortSignal): Promise<boolean> {
  const format = formatOfMime(known.mime)
  if (format === null || !hasImageData(format)) return Promise.resolve(false)
  return withPicture(context, known, signal, async ({ data }) => data?.bare ?? true)
}

/** Gives the picture to `work`: its image data, null when they are not known, and its bytes, null when no file has them. */
async function withPicture<T>(
  context: DeliveryPort,
  known: KnownPicture,
  signal: AbortSignal,
  work: (picture: { data: ImageData | null; source: ByteSource | null }) => Promise<T>,
): Promise<T> {
  const recorded = known.data ? readData(known.data) : null
  const open = 'look' in known.at ? known.at : await opened(context, known.at, known.hash, signal)
  try {
    const source = open?.source ?? null
    const format = formatOfMime(known.mime)
    const read = async () => source && format && context.pictures.data(format, source)
    return await work({ data: recorded ?? ((await read()) || null), source })
  } finally {
    if (open !== known.at) open?.close()
  }
}

/** The first of the files that has these bytes. */
async function opened(
  { synced, openPicture }: DeliveryPort,
  files: readonly FileKey[],
  hash: Buffer,
  signal: AbortSignal,
): Promise<OpenPicture | null> {
  for (const file of files) {
    const { mirror, path } = locationOf(synced, file)
    try {
      const open = await openPicture(synced.mirrors.byId(mirror)!.folder, path, signal)
      if (open.hash.equals(hash)) return open
      open.close()
    } catch (error) {
      if (!(error instanceof PictureFileError)) throw error
    }
  }
  return null
}
