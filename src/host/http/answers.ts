import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Context } from 'hono'
import { answerTo, type Readings } from '../decisions.ts'
import type { RateState, Refusal } from '../refusal.ts'

/** §7: sets the headers that tell the per-second limit. Successes have these headers too. */
export function setRate(c: Context, rate: RateState, { limitHeaders }: Readings): void {
  if (limitHeaders === 'absent' || !Number.isFinite(rate.limit)) return
  c.header('X-RateLimit-Limit', String(rate.limit))
  c.header('X-RateLimit-Remaining', String(rate.remaining))
}

/** The body of every failure (§1). */
export function failure(error: string, code: string) {
  return { success: false, error, code }
}

/** The answer to a request that was refused (§7). */
export function refused(c: Context, refusal: Refusal, readings: Readings): Response {
  if (refusal.rate) setRate(c, refusal.rate, readings)
  if (refusal.retryAfterMs !== null && readings.limitHeaders === 'sent')
    c.header('Retry-After', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))))
  const { code, status } = answerTo(refusal.reason, readings)
  return c.json(failure(refusal.message, code), status)
}

/** The answer when the host itself failed; `onFault` gets the cause. §7 has a code for it at deletions alone. */
export function faulted(c: Context): Response {
  const code = c.req.method === 'DELETE' ? 'DELETE_FAILED' : 'INTERNAL_ERROR'
  return c.json(failure('The host failed to answer.', code), 500)
}

/** The answer to a malformed request. `byHttp`: HTTP's own status for it, if the readings use that. */
export function badRequest(readings: Readings, byHttp = 400) {
  const { code, status } = answerTo('badRequest', readings)
  const body = failure('This is no well-formed HTTP request.', code)
  return { body, status: readings.statuses === 'of-http' ? byHttp : status }
}

/** §2: an answer whose numbers, empty lists and names have the form that the readings name. */
export function written(body: object, { numbers, emptyLists, names }: Readings): object {
  if (numbers === 'numbers' && emptyLists === 'written' && names === 'as-sent') return body
  const as = (key: string, value: unknown) => {
    if (typeof value === 'number' && numbers === 'text') return String(value)
    if (key === 'name' && names === 'changed') return String(value).normalize('NFD').trim()
    const isEmpty = Array.isArray(value) && value.length === 0
    return isEmpty && emptyLists !== 'written' ? { null: null, 'left-out': undefined }[emptyLists] : value
  }
  return JSON.parse(JSON.stringify(body, as))
}

/** The HTTP status for each error of Node's parser whose status is not 400. */
const PARSER_STATUS: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** Answers requests that Node's parser refuses, in the failure envelope (§1). */
export function answerBadRequests(server: Server, readings: Readings): void {
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (incoming, outgoing) => void answers.set(incoming.socket, outgoing))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = statusOf(error.code)
    if (status === null || !socket.writable || isUnderWay(answers.get(socket))) socket.destroy()
    else socket.end(messageOf(badRequest(readings, status)), () => socket.destroy())
  })
}

/** The status for a parser's error; null for other errors, such as a broken connection or a failed TLS handshake. */
function statusOf(code = ''): number | null {
  return PARSER_STATUS[code] ?? (code.startsWith('HPE_') ? 400 : null)
}

/** Whether an answer has begun on the connection. A second answer would become a part of the first one. */
function isUnderWay(answer: ServerResponse | undefined): boolean {
  return answer?.headersSent === true && !answer.writableFinished
}

function messageOf(answer: ReturnType<typeof badRequest>): string {
  const { status } = answer
  const body = JSON.stringify(answer.body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
