import { DECIDED_CODES, DECISIONS } from '../protocol/decisions.ts'
import { PER_PAGE } from '../protocol/limits.ts'
import type { AlbumRecord, ImageRecord } from '../protocol/records.ts'
import type { Account } from './data/accounts.ts'
import type { AlbumRow, Albums, CountedAlbum } from './data/albums.ts'
import type { ImageRow, Images } from './data/images.ts'
import { humanSize } from './human-size.ts'
import { Refusal } from './refusal.ts'

/** §4.4's `data`, without the address that the wire adds. */
export interface Listing {
  albums: AlbumRecord[]
  images: ImageRecord[]
  pagination: { page: number; per_page: number; total_pages: number; total_images: number }
}

/** `GET /list` (§4.4). `albumId` null is the root; `page` is as the query has it, null where it is left out. */
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

/** §2: an album as its creation answers it. */
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

/** §2: ISO 8601 with the offset written out. */
function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+00:00')
}
