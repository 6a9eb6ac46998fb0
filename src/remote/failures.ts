import { HOUR_MS } from '../protocol/clock.ts'
import type { Endpoint } from '../protocol/endpoints.ts'
import { type ErrorCode, isErrorCode } from '../protocol/errors.ts'
import { because, type Reason, said } from '../words/reasons.ts'
import type { HostFailure, Remedy } from './host.ts'
import type { HttpResult, Left } from './http/exchange.ts'
import type { Slowness } from './line/line.ts'
import { oneLine } from './secrets.ts'

/** What albumd may do when an endpoint below {base_url} answers a code of §7. */
const REMEDIES: Readonly<Record<ErrorCode, Remedy>> = {
  MISSING_FILE_SIZE: 'change_request',
  MISSING_FILE_NAME: 'change_request',
  MISSING_MIME_TYPE: 'change_request',
  MISSING_WIDTH: 'other_dimensions',
  MISSING_HEIGHT: 'other_dimensions',
  INVALID_WIDTH: 'other_dimensions',
  INVALID_HEIGHT: 'other_dimensions',
  INVALID_DIMENSION: 'other_dimensions',
  MISSING_DIMENSION: 'other_dimensions',
  UNREADABLE_DIMENSION: 'other_dimensions',
  DIMENSION_MISMATCH: 'other_dimensions',
  INVALID_FILE_SIZE: 'change_request',
  FILE_TOO_LARGE: 'change_picture',
  MISSING_NAME: 'change_request',
  INVALID_PARAMS: 'change_request',
  MISSING_PARAMS: 'change_request',
  VALIDATION_ERROR: 'change_request',
  MISSING_API_KEY: 'key',
  INVALID_API_KEY: 'key',
  PLAN_NOT_SUPPORTED: 'plan',
  FORBIDDEN: 'not_permitted',
  STORAGE_LIMIT_REACHED: 'storage',
  NOT_FOUND: 'gone',
  DAILY_LIMIT_REACHED: 'quota',
  RATE_LIMITED: 'later',
  DELETE_FAILED: 'later',
  NO_AVAILABLE_IO_NODE: 'later',
}

/** The remedies that stay when the upload node answers the code (§4.2), because the code then concerns picture or account. */
const ALSO_AT_NODE: ReadonlySet<Remedy> = new Set<Remedy>([
  'other_dimensions',
  'change_picture',
  'quota',
  'storage',
  'plan',
])

/** The failure of an answer in the form of §1: nothing was done. A code that §7 lacks is judged by its status. */
export function refused(
  endpoint: Endpoint,
  status: number,
  answer: { error: string; code: string },
  secrets: Iterable<string>,
): HostFailure {
  const code =
    oneLine(answer.code, secrets)
      .replace(/[^\w.-]/g, '_')
      .slice(0, 64) || 'UNNAMED'
  const words = oneLine(answer.error, secrets)
  const message = words ? said(words) : because('host_refused_with', { code })
  const general = isErrorCode(code) ? REMEDIES[code] : remedyOfStatus(endpoint, status)
  const remedy = endpoint === 'send' ? remedyAtNode(general, status) : general
  const told = remedy === 'refused_by_node' ? because('refused_by_node', { why: message }) : message
  return { remedy, endpoint, code, message: told, status }
}

/** The remedy when a node refused. After a 5xx a new credential may lead to another node; else it only costs quota. */
function remedyAtNode(general: Remedy, status: number): Remedy {
  if (ALSO_AT_NODE.has(general)) return general
  return general === 'later' || isPassing(status) ? 'new_credential' : 'refused_by_node'
}

/** Whether the status means that the host is overloaded or out of order, which will pass. */
function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

/** The code of a key that opens another account than the one whose images are recorded. */
export const OTHER_ACCOUNT = 'OTHER_ACCOUNT'

/** The code of an endpoint that has refused several different pictures in a row. */
export const HOST_REFUSES = 'HOST_REFUSES'

export const FORMAT_REFUSED = 'FORMAT_REFUSED'

/** The remedy for a code of §7, for a key of another account and for what the host refuses. Null: for any other code. */
export function remedyOfCode(code: string): Remedy | null {
  if (code === OTHER_ACCOUNT) return 'key'
  if (code === HOST_REFUSES || code === FORMAT_REFUSED) return 'refused_by_node'
  return isErrorCode(code) ? REMEDIES[code] : null
}

/** Codes and remedies of failures that pass: albumd tries again by itself. */
const PASSING: ReadonlySet<string | null> = new Set(['HOST_UNREACHABLE', 'HOST_ANSWER', 'later', 'quota'])

/** Whether a person must do something about what the host refuses, because it does not pass. `code`: of a failure. */
export function needsPerson(code: string): boolean {
  return !PASSING.has(code) && !PASSING.has(remedyOfCode(code))
}

function remedyOfStatus(endpoint: Endpoint, status: number): Remedy {
  if (status === 401) return 'key'
  if (status === 402 || status === 403) return 'not_permitted'
  const isOfPicture = endpoint === 'upload' || endpoint === 'send'
  if (isOfPicture && (status === 413 || status === 415)) return 'change_picture'
  // A 404 without the code NOT_FOUND (§7) does not prove that the image is gone: a wrong base_url leads to a 404 too.
  return isPassing(status) ? 'later' : 'change_request'
}

/** The failure when an answer does not have the form of §1, with any status. */
export function garbled(endpoint: Endpoint, left: Left, status: number, message: Reason): HostFailure {
  const failure = { ...unknown(endpoint, left), code: 'HOST_ANSWER', message, status }
  if (!OF_REQUEST.has(status)) return failure
  if (endpoint !== 'send') return { ...failure, remedy: 'later' }
  // With this status a proxy refuses the picture. When the whole picture has left, the node may have it too.
  const remedy = left === 'all' ? failure.remedy : 'refused_by_node'
  return { ...failure, remedy, message: because('refused_by_node', { why: message }) }
}

/** The failure when step 1 succeeded, but the credential in its answer can't be read. */
export function unusable(status: number, message: Reason): HostFailure {
  return { remedy: 'change_request', endpoint: 'upload', code: 'HOST_ANSWER', message, status, issued: true }
}

/** The host redirects. albumd does not follow, because key or credential would go to an address that nobody configured. */
export function redirected(endpoint: Endpoint, left: Left, status: number, where: string): HostFailure {
  const failure = unknown(endpoint, left)
  return {
    ...failure,
    remedy: failure.remedy === 'later' ? 'change_request' : failure.remedy,
    code: 'HOST_REDIRECT',
    message: because('redirects', { where }),
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
  return { remedy, endpoint, code: 'CANCELLED', message: because('request_cancelled'), ...unsent }
}

/** The remedy for each failure that albumd itself finds. */
const OWN = {
  HOST_ADDRESS: 'change_request',
  PRESIGN_ALBUM: 'change_request',
  PICTURE_CHANGED: 'changed_underway',
  TOO_SLOW: 'faster_line',
  GAVE_WAY: 'give_way',
  CREDENTIAL_EXPIRED: 'new_credential',
} as const satisfies Record<string, Remedy>

export function ownFailure(endpoint: Endpoint, code: keyof typeof OWN, message: Reason): HostFailure {
  return { remedy: OWN[code], endpoint, code, message }
}

/** The address in `field` of an answer may not be used (§5.4): HTTPS, or loopback for a loopback base_url. */
export function badAddress(endpoint: Endpoint, field: string): HostFailure {
  return ownFailure(endpoint, 'HOST_ADDRESS', because('address_not_https', { field }))
}

/** The request of §4.3 can't name an album, so the image would come into the root or the default album. */
export function noAlbumInPresign(): HostFailure {
  return ownFailure('upload', 'PRESIGN_ALBUM', because('presign_without_album'))
}

/** The upload needs longer than its credential lives. `lifetimeMs`: how long a credential may be used (§8). */
export function tooSlow(endpoint: Endpoint, slow: Slowness, lifetimeMs: number): HostFailure {
  const kilobytesPerSecond = Math.max(1, Math.round(slow.bytesPerSecond / 1024))
  const why = { ms: roundedUp(slow.ms), kilobytesPerSecond, lifetimeMs }
  return ownFailure(endpoint, 'TOO_SLOW', because('line_too_slow', why))
}

/** Endpoint and remedy where no answer came, or one that can't be understood. */
function unknown(endpoint: Endpoint, left: Left): { endpoint: Endpoint; remedy: Remedy } {
  if (mayBeDone(endpoint, left)) return { endpoint, remedy: 'find_out' }
  return { endpoint, remedy: endpoint === 'send' ? 'new_credential' : 'later' }
}

/** Whether a request without an answer may have changed something that must be found out. A node does not store a picture whose
 * last byte has not left. A listing, a deletion or a credential may be asked for twice without harm. */
function mayBeDone(endpoint: Endpoint, left: Left): boolean {
  return (endpoint === 'send' && left === 'all') || (endpoint === 'create_album' && left !== 'nothing')
}

/** No upload node is free, or no node has room for this picture (§4.1.5). */
export const NO_ROOM = 'NO_AVAILABLE_IO_NODE'

const OUTAGE = new Set(['HOST_UNREACHABLE', 'HOST_TLS', 'HOST_ANSWER', 'RATE_LIMITED', NO_ROOM])

/** The statuses with which a firewall or proxy in front of the host refuses a single request, with a page of its own. */
const OF_REQUEST: ReadonlySet<number> = new Set([400, 403, 406, 413, 414, 415, 422, 451])

/** Whether an answer can't be used although other requests may get a good one. */
export function isOdd({ endpoint, code, status = 0, issued }: HostFailure): boolean {
  return issued === true || (endpoint !== 'send' && code === 'HOST_ANSWER' && OF_REQUEST.has(status))
}

/** Whether the host says in a code of its own that it is closed. The gate has tried again as in any outage by then. */
export function isClosed({ code, status }: HostFailure): boolean {
  return status === 503 && !isErrorCode(code) && !code.startsWith('HOST_')
}

/** Whether the failure passes and concerns other requests too: the host is overloaded, broken or out of reach. */
export function isOutage(failure: HostFailure): boolean {
  const { code, remedy, status = 0 } = failure
  if (isOdd(failure) || remedy === 'refused_by_node' || remedy === 'give_way') return false
  return OUTAGE.has(code) || (!isErrorCode(code) && isPassing(status))
}

/** Whether step 1's answer says that the host is out of order, which it may say only for this picture. */
export function mayBeOfPicture({ endpoint, status = 0, unsent }: HostFailure): boolean {
  return endpoint === 'upload' && status >= 500 && !unsent
}

const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** Whether no endpoint of the host can be reached, because of the network, or because a proxy can't reach the host. */
export function isUnreachable({ code, status = 0 }: HostFailure): boolean {
  return code === 'HOST_UNREACHABLE' || code === 'HOST_TLS' || (code === 'HOST_ANSWER' && GATEWAY.has(status))
}

/** The failure of a request that was not sent because an outage lasts. `last`: the last failure of the outage. */
export function notAsked(endpoint: Endpoint, last: HostFailure): HostFailure {
  const { remedy: _, endpoint: __, ...said } = last
  return { ...said, remedy: endpoint === 'send' ? 'new_credential' : 'later', endpoint, unsent: true }
}

/** Whether the host has certainly done nothing: it answered with a code of §7, or the request was not sent. */
export function wasNotDone({ code, status, repeated, unsent, mayBeDone }: HostFailure): boolean {
  if (mayBeDone) return false
  return repeated === true || unsent === true || (status !== undefined && isErrorCode(code))
}

/** The failure of a request, when an earlier try of the same request may have been carried out. */
export function doubted(failure: HostFailure): { ok: false; failure: HostFailure } {
  return { ok: false, failure: { ...failure, mayBeDone: true } }
}

/** Whether the refusal concerns only the album or image that the request names. Requests for others may succeed. */
export function isOfThisOne({ code, remedy }: HostFailure): boolean {
  return code === 'DELETE_FAILED' || remedy === 'not_permitted' || remedy === 'change_request'
}

/** The time in the unit that people see, rounded up, so that equal reasons are recorded only once. */
function roundedUp(ms: number): number {
  const unit = ms < 90_000 ? 1000 : ms < 90 * 60_000 ? 60_000 : HOUR_MS
  return Math.ceil(ms / unit) * unit
}
