import { PER_PAGE } from '../protocol/limits.ts'
import type { AlbumRecord, ImageRecord } from '../protocol/records.ts'
import type { Account, AlbumRow, CountedAlbum } from './data/accounts.ts'
import type { ImageRow } from './data/images.ts'
import type { Readings } from './decisions.ts'
import { Refusal } from './refusal.ts'
import type { Stores } from './stores.ts'

/** The `data` of the answer to `GET /list` (§4.4), without delivery addresses. */
export interface Listing {
  albums: AlbumRecord[]
  images: ImageRecord[]
  pagination: { page: number; per_page: number; total_pages: number; total_images: number }
}

/** `GET /list` (§4.4). `albumId`: null is the root. `query`: the page's number as text; null: none is named. */
export function list(
  { albums, images, settings: { readings } }: Stores,
  account: Account,
  albumId: string | null,
  query: string | null,
): Listing {
  const asked = pageNumber(query)
  const { seq } = albums.owned(account, albumId)
  const totalImages = images.count(seq)
  const totalPages = Math.ceil(totalImages / PER_PAGE)
  const page = pageWithin(asked, Math.max(1, totalPages), readings)
  const newestFirst = readings.order === 'newest-first'
  const listed = page > totalPages ? [] : images.page(seq, page, newestFirst)
  const below = page > 1 && readings.subAlbums === 'first-page' ? [] : albums.below(seq)
  if (newestFirst) below.reverse()
  return {
    albums: below.map(album => albumRecord(album, readings)),
    images: listed.map(image => imageRecord(image, readings)),
    pagination: {
      page,
      per_page: PER_PAGE,
      total_pages: totalPages || Number(readings.emptyPages),
      total_images: totalImages,
    },
  }
}

/** The number of the page that the host shows when a client asks for page `asked` and `last` is the last page. */
export function pageWithin(asked: number, last: number, { beyondLast }: Readings): number {
  if (asked <= last || beyondLast === 'empty') return asked
  if (beyondLast === 'last-page') return last
  throw new Refusal('noSuchPage', `The last page is ${last}.`)
}

function pageNumber(page: string | null): number {
  if (page === null) return 1
  const number = /^[1-9]\d*$/.test(page) ? Number(page) : Number.NaN
  if (!Number.isSafeInteger(number)) throw new Refusal('badPage', 'page must be a positive integer.')
  return number
}

/** How an album is described in the answer to its creation (§2). */
export function createdAlbumRecord({ id, name, depth, created_at }: AlbumRow, { times }: Readings) {
  return { id, name, depth, created_at: timestamp(created_at, times) }
}

function albumRecord(album: CountedAlbum, readings: Readings): AlbumRecord {
  const { image_count, sub_count } = album
  return { ...createdAlbumRecord(album, readings), image_count, sub_count }
}

export function imageRecord(image: ListedRow, readings: Readings): ImageRecord {
  const { id, name, size, width, height, created_at } = image
  const { unknownDimension, sizes, times } = readings
  return {
    id,
    name,
    size: humanSize(size, sizes),
    width: width ?? unknownDimension,
    height: height ?? unknownDimension,
    time: timestamp(created_at, times),
  }
}

type ListedRow = Pick<ImageRow, 'id' | 'name' | 'size' | 'width' | 'height' | 'created_at'>

/** A time as §2 has it: ISO 8601 with an offset. */
function timestamp(ms: number, offset: Readings['times']): string {
  if (offset === 'Z') return new Date(ms).toISOString()
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(offset)!
  const east = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return new Date(ms + east).toISOString().replace('Z', offset)
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** A size for people (§2). An example: 349915 is "349.9 KB" in decimal units. */
export function humanSize(bytes: number, sizes: Readings['sizes'] = 'decimal'): string {
  const step = sizes === 'decimal' ? 1000 : 1024
  if (bytes < step) return `${bytes} B`
  let value = bytes
  let unit = 0
  // The next unit is taken from 999.95 on, because 999.95 would be shown as 1000.0.
  while (value >= step - 0.05 && unit < UNITS.length - 1) {
    value /= step
    unit += 1
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`
}
