import type { ErrorCode } from './errors.ts'
import type { Format } from './formats.ts'
import type { Plan } from './limits.ts'

/**
 * Decisions about points that the specification leaves open: it says "not shown", or says two things. The embedded host
 * behaves as decided here; the client must also work with hosts that behave otherwise. `albumd host --readings` prints all
 * decisions, and can change a choice, a number or a code, so that a client can be tried on such hosts.
 */

/** A choice between words. The embedded host takes the first of `values` unless it is told otherwise. */
type Choice = readonly [at: string, says: string, values: readonly [string, ...string[]]]

export const CHOICES = {
  fileName: ['§4.1', "a file name's extension: one of §4.3's, or any and none", ['listed', 'any']],
  exempt: [
    '§4.1',
    'the types whose width and height may be left out at step 1',
    ['svg-and-tiff', 'svg', 'tiff', 'none'],
  ],
  dimensions: [
    '§4.2',
    'declared dimensions are those stored, those of a JPEG turned by its EXIF orientation, or either',
    ['stored', 'turned', 'either'],
  ],
  exemptDeclared: ['§4.2', 'dimensions that are declared of an SVG or a TIFF', ['compared', 'ignored']],
  undeclared: [
    '§4.2.1',
    'what may come where an SVG or a TIFF was declared without dimensions',
    ['svg-and-tiff', 'any-picture', 'nothing'],
  ],
  skippedCheck: [
    '§4.2',
    'what skip_dimension_check and the presign form let through',
    ['any-bytes', 'any-picture'],
  ],
  refusedUpload: ['§4.2', 'after a refused upload its credential', ['still-usable', 'used-up']],
  cdnUrl: [
    '§4.1, §4.2',
    'the steps of an upload that answer cdn_url',
    ['both', 'first', 'second', 'neither'],
  ],
  delivery: [
    '§4.1, §4.2',
    'cdn_url as it stands in §4.3.3, or with a name behind it that has a raw space or is not ASCII',
    ['plain', 'raw-space', 'non-ascii'],
  ],
  cdnBaseUrl: [
    '§4.4',
    'cdn_base_url in a listing; relative is "", from the site on',
    ['absolute', 'without-scheme', 'relative', 'absent'],
  ],
  order: ['§4.4', 'the order of a listing', ['oldest-first', 'newest-first']],
  subAlbums: ['§4.4', 'the pages of a listing that hold the sub-albums', ['every-page', 'first-page']],
  beyondLast: ['§4.4', 'a page beyond the last; page 1 never is', ['empty', 'last-page', 'refused']],
  emptyPages: ['§2', 'total_pages of an album without images', ['0', '1']],
  deletedAlbums: ['§4.5', 'deleted_albums counts', ['album-itself-too', 'sub-albums-alone']],
  albumNames: ['§4.6', 'two albums in one place may bear one name, or not', ['repeatable', 'unique']],
  unusedCredential: [
    '§8',
    "a credential that runs out unused still counts for its day's quota, or gives its place back",
    ['counts', 'gives-back'],
  ],
  numbers: ['§2, §4', 'numbers in answers', ['numbers', 'text']],
  emptyLists: ['§4.4', 'a list without entries in an answer', ['written', 'null', 'left-out']],
  names: [
    '§2, §4.6',
    'names in answers, as they were sent or decomposed (Unicode NFD) and without blanks around them',
    ['as-sent', 'changed'],
  ],
  times: ['§2', 'the offset of times in answers', ['+00:00', 'Z', '+08:00', '-03:30']],
  sizes: [
    '§2',
    'sizes in a listing, such as "349.9 KB" of 1000 bytes each or "341.7 KB" of 1024',
    ['decimal', 'binary'],
  ],
  limitHeaders: [
    '§7',
    'Retry-After, X-RateLimit-Limit and X-RateLimit-Remaining, which answers "may carry"',
    ['sent', 'absent'],
  ],
  statuses: [
    '§1, §7',
    "malformed requests and ranges have §7's status for their code, or HTTP's own: 408, 413, 416, 431",
    ['of-the-table', 'of-http'],
  ],
} as const satisfies Record<string, Choice>

/** A number that may be set to any value from `least` up. */
type Amount = readonly [at: string, says: string, value: number, least: number]

export const AMOUNTS = {
  fileNameMax: ['§4.1', 'characters in a file name', 255, 1],
  jsonBodyMax: ['§4.1', 'bytes in a JSON body', 64 * 1024, 1024],
  /** No picture format can state more pixels than this. */
  dimensionMax: ['§4.1.2', 'pixels of a width or height', 2 ** 31 - 1, 1],
  openUploadsMax: ['§4.1.5', 'uploads under way, of one account', 64, 1],
  openUploadsInAllMax: ['§4.1.5', 'uploads under way in all', 256, 1],
  diskReserve: ['§4.1.5', 'bytes that stay free on the disk', 64 * 2 ** 20, 0],
  formOverheadMax: [
    '§4.2',
    'bytes of a form beside the picture: other parts, which are ignored, and boundaries',
    2 ** 20,
    1024,
  ],
  credentialRemembered: [
    '§4.2',
    'seconds for which an expired credential is told from one that never was',
    24 * 60 * 60,
    0,
  ],
  deliveryMaxAge: ['§4.3.3', 'seconds for which a delivered image may be kept without asking again', 300, 0],
  depthMax: ['§4.6', 'the depth of nested albums', 10, 1],
  unknownDimension: ['§2', 'listed pixels where they are not known, as of an SVG without a size', 1, 0],
} as const satisfies Record<string, Amount>

/** A failure for which §4 names no code, and the code of §7 with which the host answers it. */
type Answered = readonly [at: string, says: string, code: ErrorCode]

export const CODES = {
  badRequest: ['§1', 'a malformed, too long or too slow HTTP request', 'VALIDATION_ERROR'],
  unknownPath: ['§4', 'an unknown path or method', 'NOT_FOUND'],
  badBody: [
    '§4.1, §4.6',
    'a body that is no JSON object, not declared as JSON, or too long',
    'VALIDATION_ERROR',
  ],
  /** Fields that must be a number have error codes of their own, such as INVALID_WIDTH. */
  wrongType: ['§4.1, §4.6', 'a field of another JSON type', 'VALIDATION_ERROR'],
  unknownMime: ['§4.1', "a MIME type outside §4.3's formats", 'VALIDATION_ERROR'],
  badExtension: ['§4.1', 'a file name that file-name forbids', 'VALIDATION_ERROR'],
  fileNameTooLong: ['§4.1', 'a file name over file-name-max', 'VALIDATION_ERROR'],
  hugeDimension: ['§4.1.2', 'a positive integer above dimension-max', 'INVALID_DIMENSION'],
  unknownAlbum: ['§4.1, §4.4, §4.6', 'an album that does not exist', 'NOT_FOUND'],
  foreignAlbum: ['§4.1, §4.4, §4.6', 'an album of another account', 'FORBIDDEN'],
  unknownCredential: ['§4.2', 'a credential that was never issued', 'NOT_FOUND'],
  spentCredential: ['§4.2', 'a credential that was used or has run out', 'FORBIDDEN'],
  lostAlbum: ['§4.2', 'an album that was deleted after step 1', 'NOT_FOUND'],
  badForm: ['§4.2', 'a body that is no multipart form, or ends before the form does', 'VALIDATION_ERROR'],
  noFilePart: ['§4.2', 'a form without the part "file"', 'MISSING_PARAMS'],
  severalFileParts: ['§4.2', 'a form with several parts "file"', 'INVALID_PARAMS'],
  wrongLength: ['§4.2', 'more or fewer bytes than declared', 'INVALID_FILE_SIZE'],
  exemptButOther: ['§4.2.1', 'bytes that "undeclared" forbids', 'MISSING_DIMENSION'],
  noPicture: ['§4.2', 'bytes that skipped-check forbids', 'UNREADABLE_DIMENSION'],
  nodeFailure: ['§4.2', 'a picture that the node can not store', 'NO_AVAILABLE_IO_NODE'],
  badRange: ['§4.3.3', 'a range outside the image', 'INVALID_PARAMS'],
  badPage: ['§4.4', 'a page that is no positive integer', 'INVALID_PARAMS'],
  noSuchPage: ['§4.4', 'a page that beyond-last refuses', 'NOT_FOUND'],
  repeatedParam: ['§4.4, §4.5', 'a query parameter that is given twice', 'INVALID_PARAMS'],
  bothParams: ['§4.5.1', 'img and album at once', 'INVALID_PARAMS'],
  noParam: ['§4.5.1', 'neither img nor album, or an empty one', 'MISSING_PARAMS'],
  albumNameTooLong: ['§4.6', 'more characters than §8 allows', 'VALIDATION_ERROR'],
  albumNameTaken: ['§4.6', 'a name that album-names forbids', 'VALIDATION_ERROR'],
  tooDeep: ['§4.6', 'an album deeper than depth-max', 'INVALID_PARAMS'],
} as const satisfies Record<string, Answered>

export const DECISIONS = {
  /**
   * §1.6 states two plans from which on list, delete and create_album are allowed. The host takes the lower one unless told
   * otherwise.
   */
  plansFrom: 'professional',
  /** §1.6: only a paid plan may upload through the interface. The 50 images a day of the free plan (§8) are for the web. */
  uploadFrom: 'professional',
  /** §4.1: MIME types that formats of §4.3 also have, beside the types with which images are delivered. */
  otherMimeTypes: {
    'image/jpg': 'jpeg',
    'image/pjpeg': 'jpeg',
    'image/x-png': 'png',
    'image/x-ms-bmp': 'bmp',
    'image/tif': 'tiff',
    'image/vnd.microsoft.icon': 'ico',
  },
  /** §8: the largest file of each plan, in bytes. */
  fileSizeMax: { free: 10 * 2 ** 20, professional: 50 * 2 ** 20, flagship: 200 * 2 ** 20 },
  /** §8: the whole storage of each plan, in bytes. */
  storageMax: { free: 2 ** 30, professional: 100 * 2 ** 30, flagship: 1000 * 2 ** 30 },
  /** §7 has no code for an unexpected error of the host. The host answers this code, with status 500. */
  fault: 'INTERNAL_ERROR',
} as const satisfies Record<string, unknown> & {
  plansFrom: Plan
  otherMimeTypes: Record<string, Format>
  uploadFrom: Plan
  fileSizeMax: Record<Plan, number>
  storageMax: Record<Plan, number>
}
