import type { ErrorCode } from './errors.ts'
import type { Format } from './formats.ts'
import type { Plan } from './limits.ts'

/*
 * What the specification leaves open ("not shown", or stated twice), decided once. The embedded host behaves like
 * this; the client assumes none of it. `albumd host --readings` prints all of it. Choices, numbers and codes can be
 * taken otherwise there, so that a client can be tried on hosts that read the specification in other ways.
 */

/** A choice between words. `values`: the first one is the host's own. */
interface Choice {
  at: string
  says: string
  values: readonly [string, ...string[]]
}

export const CHOICES = {
  fileName: {
    at: '§4.1',
    says: "a file name's extension: one of §4.3's, one of the declared type's, or any and none",
    values: ['listed', 'matching', 'any'],
  },
  exempt: {
    at: '§4.1',
    says: 'the types whose width and height may be left out at step 1',
    values: ['svg-and-tiff', 'svg', 'tiff', 'none'],
  },
  dimensions: {
    at: '§4.2',
    says: 'declared dimensions are those stored, those of a JPEG turned by its EXIF orientation, or either',
    values: ['stored', 'turned', 'either'],
  },
  exemptDeclared: {
    at: '§4.2',
    says: 'dimensions that are declared of an SVG or a TIFF',
    values: ['compared', 'ignored'],
  },
  undeclared: {
    at: '§4.2.1',
    says: 'what may come where an SVG or a TIFF was declared without dimensions',
    values: ['svg-and-tiff', 'any-picture', 'nothing'],
  },
  skippedCheck: {
    at: '§4.2',
    says: 'what skip_dimension_check and the presign form let through',
    values: ['any-bytes', 'any-picture'],
  },
  refusedUpload: {
    at: '§4.2',
    says: 'after a refused upload its credential',
    values: ['still-usable', 'used-up'],
  },
  cdnUrl: {
    at: '§4.1, §4.2',
    says: 'the steps of an upload that answer cdn_url',
    values: ['both', 'first', 'second', 'neither'],
  },
  delivery: {
    at: '§4.1, §4.2',
    says: 'cdn_url as it stands in §4.3.3, or with a name behind it that has a raw space or is not ASCII',
    values: ['plain', 'raw-space', 'non-ascii'],
  },
  cdnBaseUrl: {
    at: '§4.4',
    says: 'cdn_base_url in a listing; relative is "", from the site on',
    values: ['absolute', 'without-scheme', 'relative', 'absent'],
  },
  order: {
    at: '§4.4',
    says: 'the order of a listing',
    values: ['oldest-first', 'newest-first'],
  },
  subAlbums: {
    at: '§4.4',
    says: 'the pages of a listing that hold the sub-albums',
    values: ['every-page', 'first-page'],
  },
  beyondLast: {
    at: '§4.4',
    says: 'a page beyond the last; page 1 never is',
    values: ['empty', 'last-page', 'refused'],
  },
  emptyPages: {
    at: '§2',
    says: 'total_pages of an album without images',
    values: ['0', '1'],
  },
  deletedAlbums: {
    at: '§4.5',
    says: 'deleted_albums counts',
    values: ['album-itself-too', 'sub-albums-alone'],
  },
  albumNames: {
    at: '§4.6',
    says: 'two albums in one place may bear one name, or not',
    values: ['repeatable', 'unique'],
  },
  unusedCredential: {
    at: '§8',
    says: "a credential that runs out unused still counts for its day's quota, or gives its place back",
    values: ['counts', 'gives-back'],
  },
  numbers: {
    at: '§2, §4',
    says: 'numbers in answers',
    values: ['numbers', 'text'],
  },
  times: {
    at: '§2',
    says: 'the offset of times in answers',
    values: ['+00:00', 'Z', '+08:00', '-03:30'],
  },
  sizes: {
    at: '§2',
    says: 'sizes in a listing, such as "349.9 KB" of 1000 bytes each or "341.7 KB" of 1024',
    values: ['decimal', 'binary'],
  },
  limitHeaders: {
    at: '§7',
    says: 'Retry-After, X-RateLimit-Limit and X-RateLimit-Remaining, which answers "may carry"',
    values: ['sent', 'absent'],
  },
  statuses: {
    at: '§1, §7',
    says: "malformed requests and ranges have §7's status for their code, or HTTP's own: 408, 413, 416, 431",
    values: ['of-the-table', 'of-http'],
  },
} as const satisfies Record<string, Choice>

/** A number from `least` up. */
interface Amount {
  at: string
  says: string
  value: number
  least: number
}

export const AMOUNTS = {
  fileNameMax: { at: '§4.1', says: 'characters in a file name', value: 255, least: 1 },
  jsonBodyMax: { at: '§4.1', says: 'bytes in a JSON body', value: 64 * 1024, least: 1024 },
  /** No picture format holds more. */
  dimensionMax: { at: '§4.1.2', says: 'pixels of a width or height', value: 2 ** 31 - 1, least: 1 },
  openUploadsMax: { at: '§4.1.5', says: 'uploads under way, of one account', value: 64, least: 1 },
  openUploadsInAllMax: { at: '§4.1.5', says: 'uploads under way in all', value: 256, least: 1 },
  diskReserve: { at: '§4.1.5', says: 'bytes that stay free on the disk', value: 64 * 2 ** 20, least: 0 },
  formOverheadMax: {
    at: '§4.2',
    says: 'bytes of a form beside the picture: other parts, which are ignored, and boundaries',
    value: 2 ** 20,
    least: 1024,
  },
  credentialRemembered: {
    at: '§4.2',
    says: 'seconds for which an expired credential is told from one that never was',
    value: 24 * 60 * 60,
    least: 0,
  },
  deliveryMaxAge: {
    at: '§4.3.3',
    says: 'seconds for which a delivered image may be kept without asking again',
    value: 300,
    least: 0,
  },
  depthMax: { at: '§4.6', says: 'the depth of nested albums; --depth says the same', value: 10, least: 1 },
  unknownDimension: {
    at: '§2',
    says: 'listed pixels where they are not known, as of an SVG without a size',
    value: 1,
    least: 0,
  },
} as const satisfies Record<string, Amount>

/** A failure for which §4 names no code, and the code of §7 with which the host answers it. */
interface Answered {
  at: string
  says: string
  code: ErrorCode
}

export const CODES = {
  badRequest: { at: '§1', says: 'a malformed, too long or too slow HTTP request', code: 'VALIDATION_ERROR' },
  unknownPath: { at: '§4', says: 'an unknown path or method', code: 'NOT_FOUND' },
  badBody: {
    at: '§4.1, §4.6',
    says: 'a body that is no JSON object, not declared as JSON, or too long',
    code: 'VALIDATION_ERROR',
  },
  /** Numbers have codes of their own. */
  wrongType: { at: '§4.1, §4.6', says: 'a field of another JSON type', code: 'VALIDATION_ERROR' },
  unknownMime: { at: '§4.1', says: "a MIME type outside §4.3's formats", code: 'VALIDATION_ERROR' },
  badExtension: { at: '§4.1', says: 'a file name that file-name forbids', code: 'VALIDATION_ERROR' },
  fileNameTooLong: { at: '§4.1', says: 'a file name over file-name-max', code: 'VALIDATION_ERROR' },
  hugeDimension: { at: '§4.1.2', says: 'a positive integer above dimension-max', code: 'INVALID_DIMENSION' },
  unknownAlbum: { at: '§4.1, §4.4, §4.6', says: 'an album that does not exist', code: 'NOT_FOUND' },
  foreignAlbum: { at: '§4.1, §4.4, §4.6', says: 'an album of another account', code: 'FORBIDDEN' },
  unknownCredential: { at: '§4.2', says: 'a credential that was never issued', code: 'NOT_FOUND' },
  spentCredential: { at: '§4.2', says: 'a credential that was used or has run out', code: 'FORBIDDEN' },
  lostAlbum: { at: '§4.2', says: 'an album that was deleted after step 1', code: 'NOT_FOUND' },
  badForm: {
    at: '§4.2',
    says: 'a body that is no multipart form, or ends before the form does',
    code: 'VALIDATION_ERROR',
  },
  noFilePart: { at: '§4.2', says: 'a form without the part "file"', code: 'MISSING_PARAMS' },
  severalFileParts: { at: '§4.2', says: 'a form with several of them', code: 'INVALID_PARAMS' },
  wrongLength: { at: '§4.2', says: 'more or fewer bytes than declared', code: 'INVALID_FILE_SIZE' },
  exemptButOther: { at: '§4.2.1', says: 'bytes that "undeclared" forbids', code: 'MISSING_DIMENSION' },
  noPicture: { at: '§4.2', says: 'bytes that skipped-check forbids', code: 'UNREADABLE_DIMENSION' },
  nodeFailure: { at: '§4.2', says: 'a picture that the node can not store', code: 'NO_AVAILABLE_IO_NODE' },
  badRange: { at: '§4.3.3', says: 'a range outside the image', code: 'INVALID_PARAMS' },
  badPage: { at: '§4.4', says: 'a page that is no positive integer', code: 'INVALID_PARAMS' },
  noSuchPage: { at: '§4.4', says: 'a page that beyond-last refuses', code: 'NOT_FOUND' },
  repeatedParam: { at: '§4.4, §4.5', says: 'a query parameter that is given twice', code: 'INVALID_PARAMS' },
  bothParams: { at: '§4.5.1', says: 'img and album at once', code: 'INVALID_PARAMS' },
  noParam: { at: '§4.5.1', says: 'neither of them, or an empty one', code: 'MISSING_PARAMS' },
  albumNameTooLong: { at: '§4.6', says: 'more characters than §8 allows', code: 'VALIDATION_ERROR' },
  albumNameTaken: { at: '§4.6', says: 'a name that album-names forbids', code: 'VALIDATION_ERROR' },
  tooDeep: { at: '§4.6', says: 'an album deeper than depth-max', code: 'INVALID_PARAMS' },
} as const satisfies Record<string, Answered>

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
  /** §8: the largest file of each plan, in bytes. */
  fileSizeMax: { free: 10 * 2 ** 20, professional: 50 * 2 ** 20, flagship: 200 * 2 ** 20 },
  /** §8: the whole storage of each plan, in bytes. */
  storageMax: { free: 2 ** 30, professional: 100 * 2 ** 30, flagship: 1000 * 2 ** 30 },
  /** §7 has no code for an unexpected error of the host. Status 500. */
  fault: 'INTERNAL_ERROR',
} as const satisfies Record<string, unknown> & {
  plansFrom: Plan
  otherMimeTypes: Record<string, Format>
  uploadFrom: Plan
  fileSizeMax: Record<Plan, number>
  storageMax: Record<Plan, number>
}
