import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Context } from 'hono'
import { answerTo, type Readings } from '../decisions.ts'
import type { RateState, Refusal } from '../refusal.ts'

/** §7: sets the headers that tell the per-second limit. Successes have these headers too. */
export function setRate(c: Context, rate: RateState): void {
  if (!Number.isFinite(rate.limit)) return
  c.header('X-RateLimit-Limit', String(rate.limit))
  c.header('X-RateLimit-Remaining', String(rate.remaining))
}

/** The body of every failure (§1). */
export function failure(error: string, code: string) {
  return { success: false, error, code }
}

export function refused(c: Context, refusal: Refusal, readings: Readings): Response {
  if (refusal.rate) setRate(c, refusal.rate)
  if (refusal.retryAfterMs !== null)
    c.header('Retry-After', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))))
  const { code, status } = answerTo(refusal.reason, readings)
  return c.json(failure(refusal.message, code), status)
}

/** The answer when the host itself failed. `onFault` gets the cause. Only for deletions does §7 have a code for this. */
export function faulted(c: Context): Response {
  const code = c.req.method === 'DELETE' ? 'DELETE_FAILED' : 'INTERNAL_ERROR'
  return c.json(failure('The host failed to answer.', code), 500)
}

export function badRequest() {
  const { code, status } = answerTo('badRequest')
  return { body: failure('This is no well-formed HTTP request.', code), status }
}

/** Answers the requests that Node's parser refuses, with the body of a failure (§1). */
export function answerBadRequests(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (incoming, outgoing) => void answers.set(incoming.socket, outgoing))
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
    // All other errors are those of a broken connection or a failed TLS handshake.
    const isParsers = code === 'ERR_HTTP_REQUEST_TIMEOUT' || code.startsWith('HPE_')
    if (!isParsers || !socket.writable || isUnderWay(answers.get(socket))) socket.destroy()
    else socket.end(messageOf(badRequest()), () => socket.destroy())
  })
}

/** Whether an answer has begun on the connection. A second one would become a part of it. */
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
