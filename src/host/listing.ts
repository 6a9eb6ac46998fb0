import { PER_PAGE } from '../protocol/limits.ts'
import type { AlbumRecord, ImageRecord } from '../protocol/records.ts'
import type { Account, AlbumRow, CountedAlbum } from './data/accounts.ts'
import type { ImageRow } from './data/images.ts'
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
  { albums, images }: Stores,
  account: Account,
  albumId: string | null,
  query: string | null,
): Listing {
  const page = pageNumber(query)
  const { seq } = albums.owned(account, albumId)
  const totalImages = images.count(seq)
  return {
    albums: albums.below(seq).map(albumRecord),
    images: images.page(seq, page).map(imageRecord),
    pagination: {
      page,
      per_page: PER_PAGE,
      total_pages: Math.ceil(totalImages / PER_PAGE),
      total_images: totalImages,
    },
  }
}

function pageNumber(page: string | null): number {
  if (page === null) return 1
  const number = /^[1-9]\d*$/.test(page) ? Number(page) : Number.NaN
  if (!Number.isSafeInteger(number)) throw new Refusal('badPage', 'page must be a positive integer.')
  return number
}

/** How an album is described in the answer to its creation (§2). */
export function createdAlbumRecord({ id, name, depth, created_at }: AlbumRow) {
  return { id, name, depth, created_at: timestamp(created_at) }
}

function albumRecord(album: CountedAlbum): AlbumRecord {
  const { image_count, sub_count } = album
  return { ...createdAlbumRecord(album), image_count, sub_count }
}

/** §2 wants pixels also where they are not known, as of an SVG without a size. They are 1 then. */
export function imageRecord(image: ListedRow): ImageRecord {
  const { id, name, size, width, height, created_at } = image
  const time = timestamp(created_at)
  return { id, name, size: humanSize(size), width: width ?? 1, height: height ?? 1, time }
}

type ListedRow = Pick<ImageRow, 'id' | 'name' | 'size' | 'width' | 'height' | 'created_at'>

/** A time as §2 has it: ISO 8601 with an offset. */
function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+00:00')
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** A size for people (§2), such as "349.9 KB" for 349915. */
export function humanSize(bytes: number, step = 1000): string {
  if (bytes < step) return `${bytes} B`
  let value = bytes
  let unit = 0
  // From 999.95 on the next unit is used, because 999.95 would be shown as 1000.0.
  while (value >= step - 0.05 && unit < UNITS.length - 1) {
    value /= step
    unit += 1
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`
}
