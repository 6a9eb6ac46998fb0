import { type ErrorCode, STATUS_OF } from '../protocol/errors.ts'
import type { Format } from '../protocol/formats.ts'
import type { Plan } from '../protocol/limits.ts'

/** How the host behaves where the specification says "not shown", or says two things. */
const HABITS = {
  /** §4.1: whether a file name needs an extension that §4.3 lists. */
  fileName: 'listed' as 'listed' | 'any',
  /** §4.1: the types whose width and height may be left out at step 1. */
  exempt: 'svg-and-tiff' as 'svg-and-tiff' | 'svg' | 'tiff' | 'none',
  /** §4.2: declared dimensions are those stored, those of a JPEG turned by its EXIF orientation, or either. */
  dimensions: 'stored' as 'stored' | 'turned' | 'either',
  /** §4.2: dimensions that are declared of an SVG or a TIFF. */
  exemptDeclared: 'compared' as 'compared' | 'ignored',
  /** §4.2.1: what may come where an SVG or a TIFF was declared without dimensions. */
  undeclared: 'svg-and-tiff' as 'svg-and-tiff' | 'any-picture' | 'nothing',
  /** §4.2: what skip_dimension_check and the presign form let through. */
  skippedCheck: 'any-bytes' as 'any-bytes' | 'any-picture',
  /** §4.2: after a refused upload its credential. */
  refusedUpload: 'still-usable' as 'still-usable' | 'used-up',
  /** §4.1, §4.2: the steps of an upload that answer cdn_url. */
  cdnUrl: 'both' as 'both' | 'first' | 'second' | 'neither',
  /** §4.1, §4.2: cdn_url as it stands in §4.3.3, or with a name behind it that has a raw space or is not ASCII. */
  delivery: 'plain' as 'plain' | 'raw-space' | 'non-ascii',
  /** §4.4: cdn_base_url in a listing; relative is "", from the site on. */
  cdnBaseUrl: 'absolute' as 'absolute' | 'without-scheme' | 'relative' | 'absent',
  order: 'oldest-first' as 'oldest-first' | 'newest-first',
  /** §4.4: the pages of a listing that hold the sub-albums. */
  subAlbums: 'every-page' as 'every-page' | 'first-page',
  /** §4.4: a page beyond the last; page 1 never is. */
  beyondLast: 'empty' as 'empty' | 'last-page' | 'refused',
  /** §2: total_pages of an album without images. */
  emptyPages: '0' as '0' | '1',
  /** §4.5: what deleted_albums counts. */
  deletedAlbums: 'album-itself-too' as 'album-itself-too' | 'sub-albums-alone',
  /** §4.6: whether two albums in one place may bear one name. */
  albumNames: 'repeatable' as 'repeatable' | 'unique',
  /** §8: whether a credential that runs out unused counts for its day's quota. */
  unusedCredential: 'counts' as 'counts' | 'gives-back',
  numbers: 'numbers' as 'numbers' | 'text',
  /** §4.4: a list without entries. */
  emptyLists: 'written' as 'written' | 'null' | 'left-out',
  /** §2, §4.6: names as they were sent, or decomposed (Unicode NFD) and without blanks around them. */
  names: 'as-sent' as 'as-sent' | 'changed',
  /** §2: the offset of times. */
  times: '+00:00' as '+00:00' | 'Z' | '+08:00' | '-03:30',
  /** §2: sizes in a listing, such as "349.9 KB" of 1000 bytes each or "341.7 KB" of 1024. */
  sizes: 'decimal' as 'decimal' | 'binary',
  /** §7: Retry-After, X-RateLimit-Limit and X-RateLimit-Remaining, which answers "may carry". */
  limitHeaders: 'sent' as 'sent' | 'absent',
  /** §1, §7: malformed requests and ranges have §7's status for their code, or HTTP's own: 408, 413, 416, 431. */
  statuses: 'of-the-table' as 'of-the-table' | 'of-http',

  fileNameMax: 255,
  jsonBodyMax: 64 * 1024,
  /** No picture format can state more pixels than this. */
  dimensionMax: 2 ** 31 - 1,
  /** §4.1.5: uploads under way, of one account. */
  openUploadsMax: 64,
  openUploadsInAllMax: 256,
  /** §4.1.5: bytes that stay free on the disk. */
  diskReserve: 64 * 2 ** 20,
  /** §4.2: bytes of a form beside the picture: other parts, which are ignored, and boundaries. */
  formOverheadMax: 2 ** 20,
  /** §4.2: seconds for which an expired credential is told from one that never was. */
  credentialRemembered: 24 * 60 * 60,
  /** §4.3.3: seconds for which a delivered image may be kept without asking again. */
  deliveryMaxAge: 300,
  depthMax: 10,
  /** §2: listed pixels where they are not known, as of an SVG without a size. */
  unknownDimension: 1,
}

/** Failures for which §4 names no code, and the codes of §7 with which the host answers them. */
const CODES = {
  /** §1: a malformed, too long or too slow HTTP request. */
  badRequest: 'VALIDATION_ERROR',
  unknownPath: 'NOT_FOUND',
  /** §4.1, §4.6: a body that is no JSON object, not declared as JSON, or too long. */
  badBody: 'VALIDATION_ERROR',
  /** Fields that must be a number have error codes of their own, such as INVALID_WIDTH. */
  wrongType: 'VALIDATION_ERROR',
  unknownMime: 'VALIDATION_ERROR',
  badExtension: 'VALIDATION_ERROR',
  fileNameTooLong: 'VALIDATION_ERROR',
  hugeDimension: 'INVALID_DIMENSION',
  unknownAlbum: 'NOT_FOUND',
  foreignAlbum: 'FORBIDDEN',
  unknownCredential: 'NOT_FOUND',
  /** §4.2: a credential that was used or has run out. */
  spentCredential: 'FORBIDDEN',
  /** §4.2: an album that was deleted after step 1. */
  lostAlbum: 'NOT_FOUND',
  /** §4.2: a body that is no multipart form, or ends before the form does. */
  badForm: 'VALIDATION_ERROR',
  noFilePart: 'MISSING_PARAMS',
  severalFileParts: 'INVALID_PARAMS',
  /** §4.2: more or fewer bytes than declared. */
  wrongLength: 'INVALID_FILE_SIZE',
  /** §4.2.1: bytes that `undeclared` forbids. */
  exemptButOther: 'MISSING_DIMENSION',
  /** §4.2: bytes that `skippedCheck` forbids. */
  noPicture: 'UNREADABLE_DIMENSION',
  nodeFailure: 'NO_AVAILABLE_IO_NODE',
  badRange: 'INVALID_PARAMS',
  badPage: 'INVALID_PARAMS',
  noSuchPage: 'NOT_FOUND',
  repeatedParam: 'INVALID_PARAMS',
  bothParams: 'INVALID_PARAMS',
  noParam: 'MISSING_PARAMS',
  albumNameTooLong: 'VALIDATION_ERROR',
  albumNameTaken: 'VALIDATION_ERROR',
  tooDeep: 'INVALID_PARAMS',
} as const satisfies Record<string, ErrorCode>

export type Failing = keyof typeof CODES

/** What the host decides where the specification leaves it open. Tests start the host with other values. */
export type Readings = Readonly<typeof HABITS> & Readonly<Record<Failing, ErrorCode>>

export const OWN_READINGS: Readings = { ...HABITS, ...CODES }

/** The code with which the host answers a refusal, and the status of this code in §7. */
export function answerTo(reason: ErrorCode | Failing, readings: Readings) {
  const code = Object.hasOwn(CODES, reason) ? readings[reason as Failing] : (reason as ErrorCode)
  return { code, status: STATUS_OF[code] }
}

/** §4.1: MIME types that formats of §4.3 also have, beside the types with which images are delivered. */
export const OTHER_MIME_TYPES: Readonly<Record<string, Format>> = {
  'image/jpg': 'jpeg',
  'image/pjpeg': 'jpeg',
  'image/x-png': 'png',
  'image/x-ms-bmp': 'bmp',
  'image/tif': 'tiff',
  'image/vnd.microsoft.icon': 'ico',
}

/** §8: the largest file of each plan, in bytes. */
export const FILE_SIZE_MAX: Readonly<Record<Plan, number>> = {
  free: 10 * 2 ** 20,
  professional: 50 * 2 ** 20,
  flagship: 200 * 2 ** 20,
}

/** §8: the whole storage of each plan, in bytes. */
export const STORAGE_MAX: Readonly<Record<Plan, number>> = {
  free: 2 ** 30,
  professional: 100 * 2 ** 30,
  flagship: 1000 * 2 ** 30,
}
