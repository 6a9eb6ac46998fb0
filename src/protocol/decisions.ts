import type { ErrorCode } from './errors.ts'
import type { Format } from './formats.ts'
import type { Plan } from './limits.ts'

/*
 * What the specification leaves open ("not shown", or stated twice), decided once. The embedded host behaves like
 * this; the client assumes none of it. Decisions that are not a value are these sentences:
 *
 * §2: A size in a listing has decimal units and one decimal ("349.9 KB"); a time is in UTC, written "+00:00".
 * §4.1: Null and "" count as missing. What is wrong with a field comes before what the plan forbids. Several faults
 *   at once: the first of file_name, file_size, mime_type, skip_dimension_check, width, height, album_id is answered.
 * §4.1: Where width and height are not required (SVG, TIFF, skip_dimension_check), they may be declared all the same,
 *   and are INVALID_WIDTH, INVALID_HEIGHT or INVALID_DIMENSION by the same rule. One without the other declares nothing.
 * §4.1: The file name's extension is not compared with the MIME type, nor the MIME type with the bytes.
 * §4.1: No account has a default album.
 * §4.2: What was declared decides whether dimensions are compared, not the format of the bytes. With width and height
 *   both are compared, for SVG and TIFF too, and an SVG without a size is UNREADABLE_DIMENSION. Without them the bytes
 *   must be an SVG or a TIFF, whose dimensions are taken as they are.
 * §4.2: skip_dimension_check skips all three checks, so that any bytes are taken.
 * §4.2: The delivered Content-Type is that of the bytes; when they have none of §4.3's formats, the declared type.
 *   Listed dimensions are those of the bytes; when they can't be read, the declared ones; else `unknownDimension`.
 * §4.2: A refused upload leaves its credential usable until it runs out. An upload that ends after that is refused.
 * §4.3: Both forms of step 1 share plan, quota and rate. The presign form has no dimensions, so none are compared, and
 *   no album, so its images land in the root.
 * §4.4: Oldest first. Every page repeats the album's sub-albums. An empty album has total_pages 0. A page beyond the
 *   last has no images.
 * §4.5: deleted_albums counts the album itself.
 * §4.6: Two albums may bear one name. A name is kept as it is, spaces around it included.
 * §5: The key comes before everything else, also before a path or method outside §4, which is NOT_FOUND. Then come
 *   the endpoint's rate (§8), its plan (§5.5), its parameters; at step 1 quota, storage and upload node.
 * §8: A character of a name is a code point.
 * §8: An image counts for the day on which its credential was issued. A credential that expires unused
 *   no longer counts; a deleted image still counts. Step 2 counts for the account that its credential was issued to.
 */

export const DECISIONS = {
  /** §1.6 states two plans for list, delete and create_album; the host takes the lower unless told otherwise. */
  plansFrom: 'professional',
  /** §1.6: uploading through the interface begins with a paid plan; the free plan's 50 images a day (§8) are for the web. */
  uploadFrom: 'professional',
  /** §4.1: MIME types that formats of §4.3 also go by, beside those that they are delivered with. */
  otherMimeTypes: {
    'image/jpg': 'jpeg',
    'image/pjpeg': 'jpeg',
    'image/x-png': 'png',
    'image/x-ms-bmp': 'bmp',
    'image/tif': 'tiff',
    'image/vnd.microsoft.icon': 'ico',
  },
  /** §4.1: characters in a file name. */
  fileNameMax: 255,
  /** §4.1: bytes in a JSON body. */
  jsonBodyMax: 64 * 1024,
  /** §4.1.2: pixels; no picture format holds more. */
  dimensionMax: 2 ** 31 - 1,
  /** §4.1.5: the most uploads under way at once, of one account and of all; beyond it no node is available. */
  openUploadsMax: 64,
  openUploadsInAllMax: 256,
  /** §4.1.5: bytes that stay free on the disk. */
  diskReserve: 64 * 2 ** 20,
  /** §4.2: bytes of a form beside the picture: other parts, which are ignored, and boundaries. */
  formOverheadMax: 2 ** 20,
  /** §4.2: for so many milliseconds after it expired, a credential is answered FORBIDDEN rather than NOT_FOUND. */
  credentialRememberedMs: 24 * 60 * 60_000,
  /** §4.3.3: seconds for which a delivered image may be kept without asking again. */
  deliveryMaxAge: 300,
  /** §4.6: a top-level album has depth 1. */
  depthMax: 10,
  /** §8: the quota's day, in milliseconds of UTC: it begins at midnight. */
  quotaDayMs: 24 * 60 * 60_000,
  /** §8: the largest file of each plan, in bytes. */
  fileSizeMax: { free: 10 * 2 ** 20, professional: 50 * 2 ** 20, flagship: 200 * 2 ** 20 },
  /** §8: the whole storage of each plan, in bytes. Credentials that may still be used count with what they declare. */
  storageMax: { free: 2 ** 30, professional: 100 * 2 ** 30, flagship: 1000 * 2 ** 30 },
  /** §2: pixels of an image whose dimensions are not known, such as an SVG without a size: §2 requires both. */
  unknownDimension: 1,
  /** §7 has no code for an unexpected error of the host. Status 500. */
  fault: 'INTERNAL_ERROR',
} as const satisfies Record<string, unknown> & {
  plansFrom: Plan
  otherMimeTypes: Record<string, Format>
  uploadFrom: Plan
  fileSizeMax: Record<Plan, number>
  storageMax: Record<Plan, number>
}

/** Failures for which §4 names no code, and the code of §7 with which the host answers each. */
export const DECIDED_CODES = {
  /** §1: a malformed, too long or too slow HTTP request. The status is HTTP's own: 400, 408, 413 or 431. */
  badRequest: 'VALIDATION_ERROR',
  /** §4: an unknown path or method. */
  unknownPath: 'NOT_FOUND',
  /** §4.1, §4.6: a body that is no JSON object, not declared as JSON, or longer than `jsonBodyMax`. */
  badBody: 'VALIDATION_ERROR',
  /** §4.1, §4.6: a field of another JSON type. Numbers have codes of their own. */
  wrongType: 'VALIDATION_ERROR',
  /** §4.1: a MIME type outside §4.3's formats. */
  unknownMime: 'VALIDATION_ERROR',
  fileNameTooLong: 'VALIDATION_ERROR',
  /** §4.1.2: a positive integer above `dimensionMax`. */
  hugeDimension: 'INVALID_DIMENSION',
  /** §4.1, §4.4, §4.6: an album that does not exist, and one of another account. */
  unknownAlbum: 'NOT_FOUND',
  foreignAlbum: 'FORBIDDEN',
  /** §4.2: a credential that was never issued, and one that was used or has run out. */
  unknownCredential: 'NOT_FOUND',
  spentCredential: 'FORBIDDEN',
  /** §4.2: the album was deleted after step 1. */
  lostAlbum: 'NOT_FOUND',
  /** §4.2: a body that is no multipart form, or ends before the form does. */
  badForm: 'VALIDATION_ERROR',
  noFilePart: 'MISSING_PARAMS',
  severalFileParts: 'INVALID_PARAMS',
  /** §4.2: more or fewer bytes than declared. */
  wrongLength: 'INVALID_FILE_SIZE',
  /** §4.2.1: a credential has no dimensions, and bytes that are neither SVG nor TIFF came. */
  exemptButOther: 'MISSING_DIMENSION',
  /** §4.2: the node can't store the picture. */
  nodeFailure: 'NO_AVAILABLE_IO_NODE',
  /** §4.3.3: a range outside the image. Status 416. */
  badRange: 'INVALID_PARAMS',
  /** §4.4: a page that is no positive integer. */
  badPage: 'INVALID_PARAMS',
  /** §4.4, §4.5: a query parameter that is given twice. */
  repeatedParam: 'INVALID_PARAMS',
  /** §4.5.1: both parameters, and neither or an empty one. */
  bothParams: 'INVALID_PARAMS',
  noParam: 'MISSING_PARAMS',
  /** §4.6: more characters than §8 allows. */
  albumNameTooLong: 'VALIDATION_ERROR',
  /** §4.6: deeper than `depthMax`. */
  tooDeep: 'INVALID_PARAMS',
} as const satisfies Record<string, ErrorCode>
