import { DECIDED_CODES, DECISIONS } from '../protocol/decisions.ts'
import type { ErrorCode } from '../protocol/errors.ts'
import { exemptFromDimensions, FORMATS } from '../protocol/formats.ts'
import {
  type Body,
  flag,
  isMissing,
  optionalString,
  positiveInteger,
  requiredName,
  requiredString,
} from './body.ts'
import { Refusal } from './refusal.ts'

/** A valid order of step 1 (§4.1). */
export interface UploadOrder {
  name: string
  /** Bytes. */
  size: number
  /** The MIME type with which the declared format is delivered. */
  mime: string
  /** Declared pixels; null when none are declared, which only some orders may do. */
  declared: { width: number; height: number } | null
  /** Whether the upload node compares the dimensions. */
  compares: boolean
  /** The album; null is the root. */
  albumId: string | null
}

/** The MIME types that may be declared, each with the type that its format is delivered with. */
const DELIVERED_AS = new Map<string, string>()
for (const { mime } of Object.values(FORMATS)) DELIVERED_AS.set(mime, mime)
for (const [mime, format] of Object.entries(DECISIONS.otherMimeTypes))
  DELIVERED_AS.set(mime, FORMATS[format].mime)

/** Reads the body of `POST /upload` (§4.1), and refuses what its rules refuse. */
export function readUploadOrder(body: Body): UploadOrder {
  const { name, size, mime } = readFile(body)
  const skips = flag(body, 'skip_dimension_check')
  const declared = readDimensions(body, !skips && !exemptFromDimensions(mime))
  return { name, size, mime, declared, compares: !skips, albumId: optionalString(body, 'album_id') }
}

/** Reads the body of `POST /api/presign` (§4.3). */
export function readPresignOrder(body: Body): UploadOrder {
  return { ...readFile(body), declared: null, compares: false, albumId: null }
}

function readFile(body: Body) {
  const codes = { missing: 'MISSING_FILE_NAME', tooLong: DECIDED_CODES.fileNameTooLong } as const
  const name = requiredName(body, 'file_name', DECISIONS.fileNameMax, codes)
  const size = positiveInteger(body, 'file_size', 'MISSING_FILE_SIZE', 'INVALID_FILE_SIZE')
  const declared = requiredString(body, 'mime_type', 'MISSING_MIME_TYPE').toLowerCase()
  const mime = DELIVERED_AS.get(declared)
  if (mime === undefined)
    throw new Refusal(DECIDED_CODES.unknownMime, 'mime_type must be that of a supported picture format.')
  return { name, size, mime }
}

function readDimensions(body: Body, required: boolean): UploadOrder['declared'] {
  const read = (field: string, missing: ErrorCode, invalid: ErrorCode) =>
    !required && isMissing(body[field]) ? null : readDimension(body, field, missing, invalid)
  const width = read('width', 'MISSING_WIDTH', 'INVALID_WIDTH')
  const height = read('height', 'MISSING_HEIGHT', 'INVALID_HEIGHT')
  return width === null || height === null ? null : { width, height }
}

function readDimension(body: Body, field: string, missing: ErrorCode, invalid: ErrorCode): number {
  const pixels = positiveInteger(body, field, missing, invalid)
  if (pixels > DECISIONS.dimensionMax)
    throw new Refusal(DECIDED_CODES.hugeDimension, `No picture format holds a ${field} of so many pixels.`)
  return pixels
}
