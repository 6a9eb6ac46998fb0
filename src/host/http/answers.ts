import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Context } from 'hono'
import { DECIDED_CODES, DECISIONS } from '../../protocol/decisions.ts'
import { STATUS_OF } from '../../protocol/errors.ts'
import type { RateState, Refusal } from '../refusal.ts'

/** §7: the headers of the per-second limit. They come with successes too. */
export function setRate(c: Context, rate: RateState): void {
  if (!Number.isFinite(rate.limit)) return
  c.header('X-RateLimit-Limit', String(rate.limit))
  c.header('X-RateLimit-Remaining', String(rate.remaining))
}

/** The body of every failure (§1). */
export function failure(error: string, code: string) {
  return { success: false, error, code }
}

/** The answer to a request that was refused (§7). */
export function refused(c: Context, refusal: Refusal): Response {
  if (refusal.rate) setRate(c, refusal.rate)
  if (refusal.retryAfterMs !== null)
    c.header('Retry-After', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))))
  return c.json(failure(refusal.message, refusal.code), STATUS_OF[refusal.code])
}

/** The answer when the host has failed. It says nothing about the cause. */
export function faulted(c: Context): Response {
  return c.json(failure('The host failed to answer.', DECISIONS.fault), 500)
}

/** The body of the answer to a malformed request. */
export const badRequest = failure('This is no well-formed HTTP request.', DECIDED_CODES.badRequest)

/** The statuses for errors of Node's HTTP parser that are not a 400. */
const PARSER_STATUS: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** Answers requests that Node's parser refuses, in the failure envelope (§1). */
export function answerBadRequests(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (incoming, outgoing) => void answers.set(incoming.socket, outgoing))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = statusOf(error.code)
    if (status === null || !socket.writable || isUnderWay(answers.get(socket))) socket.destroy()
    else socket.end(messageOf(status), () => socket.destroy())
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

function messageOf(status: number): string {
  const body = JSON.stringify(badRequest)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
