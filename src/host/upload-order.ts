import type { ErrorCode } from '../protocol/errors.ts'
import { exemptFromDimensions, FORMATS, formatOfName } from '../protocol/formats.ts'
import {
  type Body,
  flag,
  isMissing,
  optionalString,
  positiveInteger,
  requiredName,
  requiredString,
} from './body.ts'
import type { Account, AlbumRow } from './data/accounts.ts'
import type { CredentialRow } from './data/credentials.ts'
import { OTHER_MIME_TYPES } from './decisions.ts'
import { Refusal } from './refusal.ts'
import type { Stores } from './stores.ts'
import type { UploadNode } from './upload-node.ts'

/** What step 1 (§4.1) asks for, after all fields were checked. */
export interface UploadOrder
  extends Pick<CredentialRow, 'name' | 'size' | 'mime' | 'width' | 'height' | 'compares'> {
  albumId: string | null
}

/** The MIME types that may be declared, each with the type that its format is delivered with. */
const DELIVERED_AS = new Map<string, string>()
for (const { mime } of Object.values(FORMATS)) DELIVERED_AS.set(mime, mime)
for (const [mime, format] of Object.entries(OTHER_MIME_TYPES)) DELIVERED_AS.set(mime, FORMATS[format].mime)

export function readUploadOrder(body: Body): UploadOrder {
  const file = readFile(body)
  const skips = flag(body, 'skip_dimension_check')
  const isExempt = exemptFromDimensions(file.mime)
  const given = readDimensions(body, !skips && !isExempt)
  // For a TIFF no declared dimensions count: clients that can't read one declare 200 × 200.
  const declared = isExempt ? NONE : given
  return { ...file, ...declared, compares: skips ? 0 : 1, albumId: optionalString(body, 'album_id') }
}

export function readPresignOrder(body: Body): UploadOrder {
  return { ...readFile(body), ...NONE, compares: 0, albumId: null }
}

const FILE_NAME_MAX = 255

function readFile(body: Body) {
  const codes = { missing: 'MISSING_FILE_NAME', tooLong: 'fileNameTooLong' } as const
  const name = requiredName(body, 'file_name', FILE_NAME_MAX, codes)
  const size = positiveInteger(body, 'file_size', 'MISSING_FILE_SIZE', 'INVALID_FILE_SIZE')
  const declared = requiredString(body, 'mime_type', 'MISSING_MIME_TYPE').toLowerCase()
  const mime = DELIVERED_AS.get(declared)
  if (mime === undefined)
    throw new Refusal('unknownMime', 'mime_type must be that of a supported picture format.')
  if (formatOfName(name) === null)
    throw new Refusal('badExtension', 'file_name must have the extension of a supported picture format.')
  return { name, size, mime }
}

const NONE = { width: null, height: null }

/** No picture format can state more pixels than this. */
const DIMENSION_MAX = 2 ** 31 - 1

function readDimensions(body: Body, required: boolean): Pick<UploadOrder, 'width' | 'height'> {
  const read = (field: string, missing: ErrorCode, invalid: ErrorCode) => {
    if (!required && isMissing(body[field])) return null
    const pixels = positiveInteger(body, field, missing, invalid)
    if (pixels <= DIMENSION_MAX) return pixels
    throw new Refusal('hugeDimension', `No picture format holds a ${field} of so many pixels.`)
  }
  const width = read('width', 'MISSING_WIDTH', 'INVALID_WIDTH')
  const height = read('height', 'MISSING_HEIGHT', 'INVALID_HEIGHT')
  return width === null || height === null ? NONE : { width, height }
}

/** Step 1 (§4.1, §4.3): checks account and plan, and issues a credential. `defaultAlbum`: for orders without album. */
export function openIssuing(
  { db, albums, images, credentials, settings, clock, random }: Stores,
  node: UploadNode,
  defaultAlbum: (account: Account) => AlbumRow,
) {
  function issue(account: Account, order: UploadOrder) {
    const now = clock.wall()
    const album = order.albumId === null ? defaultAlbum(account) : albums.owned(account, order.albumId)
    if (order.size > settings.maxFileSize)
      throw new Refusal('FILE_TOO_LARGE', `A file may have at most ${settings.maxFileSize} bytes.`)
    credentials.lapse(now)
    refuseOverQuota(account, now)
    refuseFullStorage(account, order.size)
    node.refuseWithoutRoom(account.id, order.size)

    const issued = { token: random(32).toString('base64url'), imageId: random(16).toString('hex') }
    const { albumId: _, ...declared } = order
    const credential = { ...declared, account: account.id, image_id: issued.imageId, album: album.seq }
    credentials.issue(issued.token, { ...credential, expires_at: now + settings.credentialTtlMs }, now)
    return issued
  }

  function refuseOverQuota(account: Account, now: number): void {
    if (credentials.usedOn(account.id, now) < settings.dailyQuota) return
    const message = `The day's ${settings.dailyQuota} images are used up.`
    // With a quota of 0, no later day allows an upload, so the client is told no time.
    const retryAfterMs = settings.dailyQuota > 0 ? credentials.nextDay(now) - now : null
    throw new Refusal('DAILY_LIMIT_REACHED', message, { retryAfterMs })
  }

  function refuseFullStorage(account: Account, size: number): void {
    const taken = images.storedBytes(account.id) + credentials.promisedBytes(account.id)
    if (taken + size > settings.storageLimit)
      throw new Refusal(
        'STORAGE_LIMIT_REACHED',
        `The account may hold at most ${settings.storageLimit} bytes.`,
      )
  }

  return db.transaction(issue).immediate
}
