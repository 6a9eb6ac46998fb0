import { z } from 'zod'

/**
 * The requests and answers of §2 and §4. An answer may have further fields ("not shown"); they are dropped.
 * Times are ISO 8601 with an offset, sizes in a listing are for people ("1.2 MB"), dimensions are pixels.
 */

const time = z.iso.datetime({ offset: true })
const id = z.string().min(1).max(1024)
const count = z.int().nonnegative()
const pixels = z.int().positive()

/** §2 Image, as listed. */
export const imageRecord = z.object({
  id,
  name: z.string(),
  size: z.string(),
  width: pixels,
  height: pixels,
  time,
})
export type ImageRecord = z.infer<typeof imageRecord>

/** An image as the client accepts it. Every field but the id may be missing or invalid, for example an SVG's width. */
export const listedImage = z.object({
  id,
  name: z.string().optional().catch(undefined),
  size: z.string().optional().catch(undefined),
  width: pixels.optional().catch(undefined),
  height: pixels.optional().catch(undefined),
  time: z.string().optional().catch(undefined),
})
export type ListedImage = z.infer<typeof listedImage>

/** §2 Album, as listed. */
export const albumRecord = z.object({
  id,
  name: z.string(),
  depth: z.int().positive(),
  image_count: count,
  sub_count: count,
  created_at: time,
})
export type AlbumRecord = z.infer<typeof albumRecord>

/** An album as the client accepts it. An invalid field of one album must not make the whole page unreadable. */
const listedAlbum = z.object({
  id,
  name: z.string().catch(''),
  depth: z.int().positive().catch(1),
  image_count: count.catch(0),
  sub_count: count.catch(0),
  created_at: z.string().catch(''),
})

/** §2: an album in the answer to its creation. */
export const createdAlbumRecord = albumRecord.pick({ id: true, name: true, depth: true, created_at: true })

/** §2 Pagination. `total_pages` of an empty album may be 0 or 1: not shown. */
export const pagination = z.object({
  page: z.int().positive(),
  per_page: z.int().positive(),
  total_pages: count,
  total_images: count,
})

/** §4.1: the body of step 1. */
export interface UploadRequest {
  file_name: string
  /** Bytes. */
  file_size: number
  mime_type: string
  /** Pixels as stored in the file. Left out for SVG and TIFF, and with `skip_dimension_check`. */
  width?: number
  height?: number
  skip_dimension_check?: boolean
  album_id?: string
}

/** §4.3: the body of the alternative step 1. */
export type PresignRequest = Pick<UploadRequest, 'file_name' | 'file_size' | 'mime_type'>

/** §4.6: the body of album creation. */
export interface CreateAlbumRequest {
  name: string
  parent_album?: string | null
}

const succeeded = z.literal(true)

/** The answers of each endpoint in success. */
export const answers = {
  upload: z.object({ success: succeeded, data: z.object({ upload_url: z.url(), cdn_url: z.url() }) }),
  send: z.object({ success: succeeded, image_id: id, cdn_url: z.url() }),
  presign: z.object({ upload_token: z.string().min(1), upload_url: z.url(), image_id: id }),
  list: z.object({
    success: succeeded,
    data: z.object({
      albums: z.array(listedAlbum),
      images: z.array(listedImage),
      pagination,
      cdn_base_url: z.url(),
    }),
  }),
  delete_image: z.object({ success: succeeded, message: z.string() }),
  delete_album: z.object({
    success: succeeded,
    data: z.object({ deleted_albums: count, deleted_images: count }),
  }),
  create_album: z.object({ success: succeeded, data: z.object({ album: createdAlbumRecord }) }),
}

/** §1: every failure. The code may be one that §7 does not list. */
export const failure = z.object({ success: z.literal(false), error: z.string(), code: z.string() })
