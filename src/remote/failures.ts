import type { Endpoint } from '../protocol/endpoints.ts'
import { type ErrorCode, isErrorCode } from '../protocol/errors.ts'
import type { HostFailure, Remedy } from './host.ts'
import type { HttpResult, Left } from './http/exchange.ts'
import { oneLine } from './http/message.ts'
import type { Slowness } from './line/line.ts'

/**
 * §7, each code by what may be done about it: at the endpoints below {base_url}, and at an upload node
 * (§4.2). What a node refuses it has not stored, so a new credential is the way on, unless the picture or the
 * account is at fault.
 */
const REMEDIES: Readonly<Record<ErrorCode, readonly [Remedy, Remedy]>> = {
  MISSING_FILE_SIZE: ['change_request', 'new_credential'],
  MISSING_FILE_NAME: ['change_request', 'new_credential'],
  MISSING_MIME_TYPE: ['change_request', 'new_credential'],
  MISSING_WIDTH: ['skip_dimensions', 'skip_dimensions'],
  MISSING_HEIGHT: ['skip_dimensions', 'skip_dimensions'],
  INVALID_WIDTH: ['skip_dimensions', 'skip_dimensions'],
  INVALID_HEIGHT: ['skip_dimensions', 'skip_dimensions'],
  INVALID_DIMENSION: ['skip_dimensions', 'skip_dimensions'],
  MISSING_DIMENSION: ['skip_dimensions', 'skip_dimensions'],
  UNREADABLE_DIMENSION: ['skip_dimensions', 'skip_dimensions'],
  DIMENSION_MISMATCH: ['skip_dimensions', 'skip_dimensions'],
  INVALID_FILE_SIZE: ['change_request', 'new_credential'],
  FILE_TOO_LARGE: ['change_picture', 'change_picture'],
  MISSING_NAME: ['change_request', 'new_credential'],
  INVALID_PARAMS: ['change_request', 'new_credential'],
  MISSING_PARAMS: ['change_request', 'new_credential'],
  VALIDATION_ERROR: ['change_request', 'new_credential'],
  MISSING_API_KEY: ['key', 'new_credential'],
  INVALID_API_KEY: ['key', 'new_credential'],
  PLAN_NOT_SUPPORTED: ['plan', 'plan'],
  FORBIDDEN: ['not_permitted', 'new_credential'],
  STORAGE_LIMIT_REACHED: ['storage', 'storage'],
  NOT_FOUND: ['gone', 'new_credential'],
  DAILY_LIMIT_REACHED: ['quota', 'quota'],
  RATE_LIMITED: ['later', 'new_credential'],
  DELETE_FAILED: ['later', 'new_credential'],
  NO_AVAILABLE_IO_NODE: ['later', 'new_credential'],
}

/** A well-formed failure (§1): nothing was done. The code may be one that §7 does not list. */
export function refused(
  endpoint: Endpoint,
  status: number,
  said: { error: string; code: string },
  secrets: Iterable<string>,
): HostFailure {
  const code =
    oneLine(said.code, secrets)
      .replace(/[^\w.-]/g, '_')
      .slice(0, 64) || 'UNNAMED'
  const [below, node] = isErrorCode(code)
    ? REMEDIES[code]
    : [remedyOfStatus(endpoint, status), nodeRemedyOfStatus(status)]
  return {
    remedy: endpoint === 'send' ? node : below,
    endpoint,
    code,
    message: oneLine(said.error, secrets) || `the host answered ${code}`,
    status,
  }
}

function remedyOfStatus(endpoint: Endpoint, status: number): Remedy {
  if (status === 401) return 'key'
  if (status === 402 || status === 403) return 'not_permitted'
  if (endpoint === 'upload' && (status === 413 || status === 415)) return 'change_picture'
  const passing = status === 408 || status === 429
  // 404 included: only §7's NOT_FOUND may be taken for "deleted already".
  return status >= 400 && status < 500 && !passing ? 'change_request' : 'later'
}

function nodeRemedyOfStatus(status: number): Remedy {
  return status === 413 || status === 415 ? 'change_picture' : 'new_credential'
}

/** An answer that is not of the interface, whatever its status. */
export function garbled(endpoint: Endpoint, left: Left, status: number, message: string): HostFailure {
  return { ...unknown(endpoint, left), code: 'HOST_ANSWER', message, status }
}

/** No redirect is followed: the key and the credential go where they were meant to go. */
export function redirected(endpoint: Endpoint, left: Left, status: number, where: string): HostFailure {
  const failure = unknown(endpoint, left)
  return {
    ...failure,
    remedy: failure.remedy === 'later' ? 'change_request' : failure.remedy,
    code: 'HOST_REDIRECT',
    message: `${where} redirects to another address, and none is followed; set host.base_url to the final one`,
    status,
  }
}

export function unanswered(endpoint: Endpoint, result: Exclude<HttpResult, { kind: 'answer' }>): HostFailure {
  if (result.kind === 'cancelled') return cancelled(endpoint, result.left)
  const { code, message, left } = result
  return { ...unknown(endpoint, left), code, message, ...(left === 'nothing' && { unsent: true }) }
}

export function cancelled(endpoint: Endpoint, left: Left): HostFailure {
  const remedy = mayBeDone(endpoint, left) ? 'find_out' : 'cancelled'
  const unsent = left === 'nothing' && ({ unsent: true } as const)
  return { remedy, endpoint, code: 'CANCELLED', message: 'it was cancelled', ...unsent }
}

/** `field` of an answer holds an address that is neither HTTPS nor, for a loopback host, loopback. */
export function badAddress(endpoint: Endpoint, remedy: Remedy, field: string): HostFailure {
  const message = `the host gave an address (${field}) that is not one of plain HTTPS; it is not used`
  return { remedy, endpoint, code: 'HOST_ADDRESS', message }
}

/** A key as short as a word may stand in any address by chance: the message says what to look at. */
export function addressWithSecret(): HostFailure {
  const message =
    'the host gave an address (cdn_url) that holds the API key or the upload address; it is not used, for it would be stored and shown. A key of a few letters may be in it by chance: use a longer one'
  return { remedy: 'change_request', endpoint: 'upload', code: 'HOST_ADDRESS', message }
}

/** §4.3 names no album, and an image in the root is not what was asked for. */
export function noAlbumInPresign(): HostFailure {
  const message =
    'upload_form presign knows no albums; set host.upload_form to credential, or mirror on album ""'
  return { remedy: 'change_request', endpoint: 'upload', code: 'PRESIGN_ALBUM', message }
}

export function changedUnderway(): HostFailure {
  const message = 'the picture changed while it was being sent'
  return { remedy: 'changed_underway', endpoint: 'send', code: 'PICTURE_CHANGED', message }
}

/** `lifetimeMs`: of a credential (§8). */
export function tooSlow(endpoint: Endpoint, slow: Slowness, lifetimeMs: number): HostFailure {
  const speed = `${Math.max(1, Math.round(slow.bytesPerSecond / 1024))} KB/s`
  const message =
    `it would take ${timeInWords(slow.ms)} at ${speed}, and an upload may take ${timeInWords(lifetimeMs)}; ` +
    'it needs a faster line (or a higher uploads.bandwidth, where that is set), and is tried again by itself'
  return { remedy: 'faster_line', endpoint, code: 'TOO_SLOW', message }
}

export function gaveWay(): HostFailure {
  const message = 'the line became too slow for all that was being sent; this one goes again later'
  return { remedy: 'give_way', endpoint: 'send', code: 'GAVE_WAY', message }
}

/** Its turn came too late. */
export function credentialExpired(): HostFailure {
  const message = 'its credential ran out before it could be sent'
  return { remedy: 'new_credential', endpoint: 'send', code: 'CREDENTIAL_EXPIRED', message, unsent: true }
}

function timeInWords(ms: number): string {
  if (ms < 90_000) return `${Math.ceil(ms / 1000)} s`
  if (ms < 90 * 60_000) return `${Math.ceil(ms / 60_000)} minutes`
  return `${Math.ceil(ms / 3_600_000)} hours`
}

function unknown(endpoint: Endpoint, left: Left): Pick<HostFailure, 'endpoint' | 'remedy'> {
  if (mayBeDone(endpoint, left)) return { endpoint, remedy: 'find_out' }
  return { endpoint, remedy: endpoint === 'send' ? 'new_credential' : 'later' }
}

/** A picture without its last byte is none. The others do no harm when they are done twice. */
function mayBeDone(endpoint: Endpoint, left: Left): boolean {
  return (endpoint === 'send' && left === 'all') || (endpoint === 'create_album' && left !== 'nothing')
}

const TROUBLE = new Set([
  'HOST_UNREACHABLE',
  'HOST_TLS',
  'HOST_ANSWER',
  'RATE_LIMITED',
  'NO_AVAILABLE_IO_NODE',
])

/** The host is in passing trouble, and not with this one request alone. */
export function isTrouble({ code, status = 0 }: HostFailure): boolean {
  return TROUBLE.has(code) || (!isErrorCode(code) && (status === 408 || status === 429 || status >= 500))
}

const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** Nobody is there to answer, at whatever endpoint: the network, or what stands before the host, says so. */
export function isAway({ code, status = 0 }: HostFailure): boolean {
  return code === 'HOST_UNREACHABLE' || code === 'HOST_TLS' || (code === 'HOST_ANSWER' && GATEWAY.has(status))
}

/** What a request is answered that is not sent, because the trouble that `last` tells of lasts. */
export function notAsked(endpoint: Endpoint, last: HostFailure): HostFailure {
  const { code, message } = last
  return { remedy: endpoint === 'send' ? 'new_credential' : 'later', endpoint, code, message, unsent: true }
}

/** The host's own word that nothing was done, or nothing was asked. */
export function wasNotDone({ code, status, repeated, unsent, mayBeDone }: HostFailure): boolean {
  if (mayBeDone) return false
  return repeated === true || unsent === true || (status !== undefined && isErrorCode(code))
}

/** The same failure after a try that may have been done. */
export function doubted(failure: HostFailure): { ok: false; failure: HostFailure } {
  return { ok: false, failure: { ...failure, mayBeDone: true } }
}

/** A refusal that says something of the one album or image that it was about; others may go all the same. */
export function isOfThisOne({ code, remedy }: HostFailure): boolean {
  return code === 'DELETE_FAILED' || remedy === 'not_permitted' || remedy === 'change_request'
}
