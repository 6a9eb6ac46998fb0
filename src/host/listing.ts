import { DECIDED_CODES, DECISIONS } from '../protocol/decisions.ts'
import { PER_PAGE } from '../protocol/limits.ts'
import type { AlbumRecord, ImageRecord } from '../protocol/records.ts'
import type { Account, AlbumRow, Albums, CountedAlbum } from './data/accounts.ts'
import type { ImageRow, Images } from './data/images.ts'
import { Refusal } from './refusal.ts'

/** The `data` of §4.4, without delivery addresses. */
export interface Listing {
  albums: AlbumRecord[]
  images: ImageRecord[]
  pagination: { page: number; per_page: number; total_pages: number; total_images: number }
}

/** `GET /list` (§4.4). A null `albumId` is the root. `page`: the text of the query; null when it is left out. */
export function list(
  data: { albums: Albums; images: Images },
  account: Account,
  albumId: string | null,
  page: string | null,
): Listing {
  const number = pageNumber(page)
  const album = data.albums.owned(account, albumId)
  const totalImages = data.images.count(album.seq)
  const totalPages = Math.ceil(totalImages / PER_PAGE)
  const images = number > totalPages ? [] : data.images.page(album.seq, PER_PAGE, (number - 1) * PER_PAGE)
  return {
    albums: data.albums.below(album.seq).map(albumRecord),
    images: images.map(imageRecord),
    pagination: { page: number, per_page: PER_PAGE, total_pages: totalPages, total_images: totalImages },
  }
}

function pageNumber(page: string | null): number {
  if (page === null) return 1
  const number = /^[1-9]\d*$/.test(page) ? Number(page) : Number.NaN
  if (!Number.isSafeInteger(number))
    throw new Refusal(DECIDED_CODES.badPage, 'page must be a positive integer.')
  return number
}

/** An album in the answer to its creation (§2). */
export function createdAlbumRecord({ id, name, depth, created_at }: AlbumRow) {
  return { id, name, depth, created_at: timestamp(created_at) }
}

function albumRecord(album: CountedAlbum): AlbumRecord {
  const { image_count, sub_count } = album
  return { ...createdAlbumRecord(album), image_count, sub_count }
}

function imageRecord({ id, name, size, width, height, created_at }: ImageRow): ImageRecord {
  return {
    id,
    name,
    size: humanSize(size),
    width: width ?? DECISIONS.unknownDimension,
    height: height ?? DECISIONS.unknownDimension,
    time: timestamp(created_at),
  }
}

/** A time as §2 has it: ISO 8601 with an offset. */
function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+00:00')
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** A size for people (§2), in decimal units. An example: 349915 is "349.9 KB". */
export function humanSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes
  let unit = 0
  // 999.95 would be rounded to 1000.0, so it takes the next unit.
  while (value >= 999.95 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`
}
