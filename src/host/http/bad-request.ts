import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { DECIDED_CODES } from '../../protocol/decisions.ts'
import { failure } from './answers.ts'

/** The body that answers what is no request. */
export const badRequest = failure('This is no well-formed HTTP request.', DECIDED_CODES.badRequest)

/** What Node's HTTP parser refuses otherwise than with 400. */
const STATUS_OF: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** Answers in the failure envelope (§1) what never becomes a request, for Node's parser refuses it. */
export function answerBadRequests(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (incoming, outgoing) => void answers.set(incoming.socket, outgoing))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = statusOf(error.code)
    if (status === null || !socket.writable || isUnderWay(answers.get(socket))) socket.destroy()
    else socket.end(messageOf(status), () => socket.destroy())
  })
}

/** Null for what the parser did not say, such as a connection that broke or a TLS handshake that failed. */
function statusOf(code = ''): number | null {
  return STATUS_OF[code] ?? (code.startsWith('HPE_') ? 400 : null)
}

/** Within an answer that has begun, another one would pass for a part of it. */
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
