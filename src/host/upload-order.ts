import { DECIDED_CODES, DECISIONS } from '../protocol/decisions.ts'
import type { ErrorCode } from '../protocol/errors.ts'
import { exemptFromDimensions, FORMATS } from '../protocol/formats.ts'
import { type Body, flag, optionalString, positiveInteger, requiredString } from './body.ts'
import { Refusal } from './refusal.ts'

/** What step 1 asks for (§4.1), once it has been found in order. */
export interface UploadOrder {
  name: string
  /** Bytes. */
  size: number
  /** Pixels; null where the order is exempt from them. */
  declared: { width: number; height: number } | null
  /** Whether the upload node compares dimensions. */
  compares: boolean
  /** Null is the root. */
  albumId: string | null
}

const MIME_TYPES = new Set<string>([
  ...Object.values(FORMATS).map(format => format.mime),
  ...DECISIONS.otherMimeTypes,
])

/** The body of `POST /upload` (§4.1). Refuses by its validation rules. */
export function readUploadOrder(body: Body): UploadOrder {
  const { name, size, mime } = readFile(body)
  const skips = flag(body, 'skip_dimension_check')
  const exempt = skips || exemptFromDimensions(mime)
  const declared = exempt ? null : readDimensions(body)
  return { name, size, declared, compares: !skips, albumId: optionalString(body, 'album_id') }
}

/** The body of `POST /api/presign` (§4.3). */
export function readPresignOrder(body: Body): UploadOrder {
  const { name, size } = readFile(body)
  return { name, size, declared: null, compares: false, albumId: null }
}

function readFile(body: Body) {
  const name = requiredString(body, 'file_name', 'MISSING_FILE_NAME')
  if (name.length > DECISIONS.fileNameMax)
    throw new Refusal(
      DECIDED_CODES.fileNameTooLong,
      `file_name must have at most ${DECISIONS.fileNameMax} characters.`,
    )
  const size = positiveInteger(body, 'file_size', 'MISSING_FILE_SIZE', 'INVALID_FILE_SIZE')
  const mime = requiredString(body, 'mime_type', 'MISSING_MIME_TYPE').toLowerCase()
  if (!MIME_TYPES.has(mime))
    throw new Refusal(DECIDED_CODES.unknownMime, 'mime_type must be that of a supported picture format.')
  return { name, size, mime }
}

function readDimensions(body: Body) {
  return {
    width: readDimension(body, 'width', 'MISSING_WIDTH', 'INVALID_WIDTH'),
    height: readDimension(body, 'height', 'MISSING_HEIGHT', 'INVALID_HEIGHT'),
  }
}

function readDimension(body: Body, field: string, missing: ErrorCode, invalid: ErrorCode): number {
  const pixels = positiveInteger(body, field, missing, invalid)
  if (pixels > DECISIONS.dimensionMax)
    throw new Refusal(DECIDED_CODES.hugeDimension, `No picture format holds a ${field} of so many pixels.`)
  return pixels
}
