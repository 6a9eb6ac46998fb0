import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { freePort } from '../free-port.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a real server on a free port, closed after the test. Resolves to its origin. */
export async function serve(handler: Handler, tls?: { key: string; cert: string }): Promise<string> {
  const server = tls ? https.createServer(tls, handler) : http.createServer(handler)
  const port = await listen(server)
  onTestFinished(() => server.closeAllConnections())
  return `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
}

/** A TCP server whose connections are handled by `talk`. */
export async function serveRaw(talk: (socket: Socket) => void): Promise<string> {
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    talk(socket)
  })
  return `http://127.0.0.1:${await listen(server)}`
}

/** A whole answer, as it goes over a connection. */
export const page = (status: string, body: string) =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** An address where nothing listens. */
export async function deadOrigin(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}

/** Asks the server at `origin` what `request` asks. `body`: the request's; its length is declared anew. */
export function ask(
  origin: string,
  { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  body: Buffer,
): Promise<IncomingMessage> {
  const { connection, host, 'transfer-encoding': _, ...rest } = headers
  const sent: IncomingHttpHeaders = {
    ...rest,
    ...(body.length > 0 && { 'content-length': `${body.length}` }),
  }
  return new Promise((resolve, reject) => {
    const asked = http.request(origin + url, { method: method!, headers: sent, agent: false }, resolve)
    asked.on('error', reject).end(body)
  })
}

/** Answers a request as the server at `origin` does. */
export async function passOn(
  origin: string,
  request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const answer = await ask(origin, request, body).catch(() => null)
  if (answer === null) return void response.destroy()
  response.writeHead(answer.statusCode!, answer.headers)
  answer.pipe(response)
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export function failure(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
) {
  json(response, status, { success: false, error: `the host says ${code}`, code }, headers)
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The listing of an album without anything in it. */
export const EMPTY_PAGE = {
  albums: [],
  images: [],
  pagination: { page: 1, per_page: 20, total_pages: 0, total_images: 0 },
  cdn_base_url: 'https://c.example',
}
