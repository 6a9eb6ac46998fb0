import { type ErrorCode, STATUS_OF } from '../protocol/errors.ts'
import type { Format } from '../protocol/formats.ts'
import type { Plan } from '../protocol/limits.ts'

/** How the host behaves where the specification says two things, and amounts that it does not name. */
const HABITS = {
  /** §4.2: which dimensions a client declares: those stored, or those of a JPEG after its EXIF orientation. */
  dimensions: 'stored' as 'stored' | 'turned',
  /** §4.6: whether two albums in one place may bear one name. */
  albumNames: 'repeatable' as 'repeatable' | 'unique',
  /** §4.1.5: the most uploads under way of one account. */
  openUploadsMax: 64,
  openUploadsInAllMax: 256,
  depthMax: 10,
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
  /** §4.2.1: other bytes where an SVG or a TIFF was declared without dimensions. */
  exemptButOther: 'MISSING_DIMENSION',
  nodeFailure: 'NO_AVAILABLE_IO_NODE',
  badPage: 'INVALID_PARAMS',
  repeatedParam: 'INVALID_PARAMS',
  bothParams: 'INVALID_PARAMS',
  noParam: 'MISSING_PARAMS',
  albumNameTooLong: 'VALIDATION_ERROR',
  albumNameTaken: 'VALIDATION_ERROR',
  tooDeep: 'INVALID_PARAMS',
} as const satisfies Record<string, ErrorCode>

export type Failing = keyof typeof CODES

/** What the host decides where the specification leaves it open. Tests also start hosts with other decisions. */
export type Readings = Readonly<typeof HABITS> & Readonly<Record<Failing, ErrorCode>>

export const OWN_READINGS: Readings = { ...HABITS, ...CODES }

/** The code with which the host answers a refusal, and the status of this code in §7. */
export function answerTo(reason: ErrorCode | Failing, readings = OWN_READINGS) {
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
