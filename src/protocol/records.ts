import { z } from 'zod'

/** The requests and answers of §2 and §4. Times are ISO 8601, sizes in listings are for people ("1.2 MB"), dimensions pixels. The
 * client reads only the fields that it uses, in each form of one meaning: a number as text, an id as a number. */

const time = z.iso.datetime({ offset: true })
const id = z.string().min(1).max(1024)
const count = z.int().nonnegative()
const pixels = z.int().positive()

/** A number, or the same number as text ("42"). */
const inDigits = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)
const countRead = z.union([count, inDigits])
const pixelsRead = z.union([pixels, inDigits.pipe(pixels)])
const idRead = z.union([id, z.int().transform(String)])
/** A list. It may be missing or null, because some hosts answer so when the list is empty. */
const listRead = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform(list => list ?? [])
/** A delivery address. Undefined when the host names none, or names something that is no whole address. */
const addressRead = z.url().optional().catch(undefined)

/** An address, or only a path, which is then resolved against the address of the request (RFC 3986, 4.2). */
const reference = z.string().min(1)

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
const listedImage = z.object({
  id: idRead,
  name: z.string().optional().catch(undefined),
  size: z.string().optional().catch(undefined),
  width: pixelsRead.optional().catch(undefined),
  height: pixelsRead.optional().catch(undefined),
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
  id: idRead,
  name: z.string().catch(''),
  image_count: countRead.catch(0),
  sub_count: countRead.catch(0),
  created_at: z.string().catch(''),
})
export type ListedAlbum = z.infer<typeof listedAlbum>

/** §2 Pagination, as far as it is used. `total_pages` of an empty album may be 0 or 1. */
const pagination = z.object({ total_pages: countRead, total_images: countRead })

/** §4.1: the body of step 1. */
export interface UploadRequest {
  file_name: string
  /** Bytes. */
  file_size: number
  mime_type: string
  /** Pixels as stored, or as EXIF turns them. May be missing for SVG and TIFF, and with `skip_dimension_check`. */
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

function isFlat(answer: unknown): answer is { success?: unknown } {
  return typeof answer === 'object' && answer !== null && 'upload_url' in answer && !('data' in answer)
}

/** What each endpoint answers when it succeeds. */
export const answers = {
  /** Some hosts answer step 1 without `data`, as §4.2 shows it for step 2. */
  upload: z.preprocess(
    answer => (isFlat(answer) ? { success: answer.success, data: answer } : answer),
    z.object({ success: succeeded, data: z.object({ upload_url: reference, cdn_url: addressRead }) }),
  ),
  /** Some hosts say only that the step has succeeded. */
  send: z.object({ success: succeeded, image_id: idRead.optional(), cdn_url: addressRead }),
  presign: z.object({ upload_token: z.string().min(1), upload_url: reference, image_id: idRead }),
  /** §4.3.2 shows no answer to step 2 in the presign form. The id may be missing, because step 1 has told it. */
  sendPresigned: z
    .object({ success: succeeded.optional(), image_id: idRead.optional(), cdn_url: addressRead })
    .refine(({ success, image_id }) => success || image_id !== undefined),
  list: z.object({
    success: succeeded,
    data: z.object({
      albums: listRead(listedAlbum),
      images: listRead(listedImage),
      pagination,
      /** Some hosts name only a path, below {base_url}. */
      cdn_base_url: z.string().optional().catch(undefined),
    }),
  }),
  deletion: z.object({ success: succeeded }),
  create_album: z.object({ success: succeeded, data: z.object({ album: z.object({ id: idRead }) }) }),
}

const words = z.string().catch('')

/** The fields in which hosts, and gateways in front of them, say why they refuse. */
const said = { error: words, message: words, detail: words }
type Said = Record<keyof typeof said, string>
const wordsIn = <T extends Said>({ error, message, detail, ...rest }: T) => ({
  ...rest,
  error: error || message || detail,
})

/** §1: the form of every failure. Its code may be one that §7 does not list, or missing. */
export const failure = z.object({ success: z.literal(false), ...said, code: words }).transform(wordsIn)
/** The form of a failure of the presign request (§4.3), whose answers have no field `success`. */
export const bareFailure = z
  .object({ success: z.undefined().optional(), ...said, code: z.string() })
  .transform(wordsIn)
/** What a failure of any form says. */
export const failureWords = z.object(said).transform(answer => wordsIn(answer).error)
