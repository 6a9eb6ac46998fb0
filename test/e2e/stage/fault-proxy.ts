import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { DELIVERY_PATH, type Endpoint, PATHS, VERSION_PATH } from '../../../src/protocol/endpoints.ts'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** One request as the proxy had it. */
export interface Passed {
  kind: Kind
  /** Path and query. */
  url: string
  body: Buffer
  fault: Fault | null
  /** What the host answered, whatever the client came to see of it. Null as long as it was not asked. */
  answer: Answer | null
}

export interface FaultProxy {
  /** The host's {base_url}, through the proxy. */
  baseUrl: string
  /** In the order in which they came. */
  log: Passed[]
  /** The nth request of this kind from here on, or each, goes wrong. */
  fail(kind: Kind, nth: number | 'each', fault: Fault): void
  /** How many of the faults that were asked for once have not happened. */
  outstanding(): number
  /** Called when a request has come and when the host has answered it, both before anything else happens. A request whose
   * `onSeen` answers a promise is held until then, with its body. */
  onSeen: (passed: Passed) => void | Promise<void>
  onServed: (passed: Passed) => void
  /** Resolves when no client is connected and nothing is still to be passed on. */
  quiet(): Promise<void>
}

/** Milliseconds. Longer than any client in these tests waits, and well within a credential of two seconds. */
const DELAY_MS = 3000
const LATE_MS = 700
const REFUSAL_MS = 300

/** A real reverse proxy before the host at `hostBaseUrl`. Addresses in the host's answers lead through it too. */
export async function startFaultProxy(hostBaseUrl: string): Promise<FaultProxy> {
  const upstream = new URL(hostBaseUrl).origin
  const agent = new Agent({ keepAlive: true })
  const sockets = new Set<Socket>()
  const underWay = new Set<Promise<void>>()
  const rules: { kind: Kind; left: number | 'each'; fault: Fault }[] = []
  let closed = false

  const server = createServer((request, response) => {
    const work = handle(request, response).catch(() => void response.destroy())
    underWay.add(work)
    void work.finally(() => underWay.delete(work))
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  const port = await listen(0)
  const origin = `http://127.0.0.1:${port}`

  const proxy: FaultProxy = {
    baseUrl: origin + VERSION_PATH,
    log: [],
    fail: (kind, left, fault) => void rules.push({ kind, left, fault }),
    outstanding: () => rules.filter(({ left }) => left !== 'each' && left > 0).length,
    onSeen() {},
    onServed() {},
    async quiet() {
      while (sockets.size + underWay.size > 0) {
        server.closeIdleConnections()
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    },
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {})
    const kind = kindOf(request)
    const passed: Passed = {
      kind,
      url: request.url!,
      body: Buffer.alloc(0),
      fault: faultOf(kind),
      answer: null,
    }
    proxy.log.push(passed)
    await proxy.onSeen(passed)
    const reset = () => void request.socket.resetAndDestroy()
    switch (passed.fault) {
      case 'refuse':
        return refuse(reset)
      case 'reset':
        return reset()
      case 'half_body':
        await passHalf(request)
        return reset()
      case 'cached_404':
        return answerWith(response, 404, 'application/json', NOT_FOUND)
    }
    passed.body = await bodyOf(request)
    if (passed.fault === 'late') {
      reset()
      await wait(LATE_MS)
    }
    passed.answer = await passOn(request, passed.body)
    proxy.onServed(passed)
    await giveAnswer(passed.answer, passed.fault, request, response)
  }

  function faultOf(kind: Kind): Fault | null {
    let fault: Fault | null = null
    // Each rule counts every request, whichever of them it is that goes wrong.
    for (const rule of rules) {
      if (rule.kind !== kind || rule.left === 0) continue
      if (rule.left !== 'each') rule.left--
      if (rule.left === 'each' || rule.left === 0) fault ??= rule.fault
    }
    return fault
  }

  /** The proxy is away for a while, with everybody's connections. */
  async function refuse(reset: () => void): Promise<void> {
    reset()
    server.close()
    server.closeAllConnections()
    await wait(REFUSAL_MS)
    if (!closed) await listen(port)
  }

  function ask(request: IncomingMessage, length: number) {
    const { connection, host, 'transfer-encoding': _, ...headers } = request.headers
    return openRequest(upstream + request.url, {
      method: request.method!,
      agent,
      headers: length > 0 ? { ...headers, 'content-length': length } : headers,
    })
  }

  async function passHalf(request: IncomingMessage): Promise<void> {
    const length = Number(request.headers['content-length'] ?? 0)
    const half = await bodyOf(request, Math.floor(length / 2))
    const asked = ask(request, length)
    asked.on('error', () => {})
    await new Promise<void>(resolve => asked.write(half, () => resolve()))
    asked.destroy()
  }

  function passOn(request: IncomingMessage, body: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = ask(request, body.byteLength)
      asked.on('error', reject)
      asked.on('response', answer => {
        const { statusCode, headers } = answer
        bodyOf(answer).then(read => resolve({ status: statusCode!, headers, body: read }), reject)
      })
      asked.end(body)
    })
  }

  async function giveAnswer(
    { status, headers, body }: Answer,
    fault: Fault | null,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (fault === 'late') return
    if (fault === 'drop_answer') return void request.socket.resetAndDestroy()
    if (fault === 'html_502')
      return answerWith(response, 502, 'text/html', '<html><h1>502 Bad Gateway</h1></html>')
    if (fault === 'delay') await wait(DELAY_MS)
    const json = headers['content-type']?.startsWith('application/json')
    const given = json ? Buffer.from(body.toString().replaceAll(upstream, origin)) : body
    const { 'transfer-encoding': _, connection, ...rest } = headers
    response.writeHead(status, { ...rest, 'content-length': given.byteLength })
    if (fault !== 'truncate_answer') response.end(given)
    // Not reset: what was written is to arrive.
    else response.write(given.subarray(0, given.byteLength / 2), () => request.socket.destroy())
  }

  onTestFinished(async () => {
    closed = true
    server.close()
    server.closeAllConnections()
    await Promise.allSettled(underWay)
    agent.destroy()
  })
  return proxy
}

const NOT_FOUND = JSON.stringify({ success: false, error: 'There is no such image.', code: 'NOT_FOUND' })

function kindOf({ url = '', method }: IncomingMessage): Kind {
  const { pathname } = new URL(url, 'http://proxy')
  if (pathname.startsWith(DELIVERY_PATH)) return 'deliver'
  if (pathname === VERSION_PATH) return 'greet'
  const below = Object.entries(PATHS).find(([, path]) => pathname === VERSION_PATH + path)
  if (below) return below[0] as Kind
  if (method === 'POST') return 'send'
  throw new Error(`nothing of the interface: ${method} ${pathname}`)
}

/** All of it, or its first `most` bytes, after which no more is read. */
async function bodyOf(message: IncomingMessage, most = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk)
    size += chunk.byteLength
    if (size >= most) break
  }
  return Buffer.concat(chunks).subarray(0, Math.min(size, most))
}

function answerWith(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

function wait(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

/** What goes through: the endpoints of §4, and the delivery of images. */
/** greet: the host's {base_url} itself, by which the doctor sees whether the host answers. */
export type Kind = Endpoint | 'deliver' | 'greet'

export const FAULTS = [
  /** Reset, and for a while every new connection is refused. */
  'refuse',
  /** Reset before anything of it is passed on. */
  'reset',
  /** Half of the body is passed on, then both sides are reset. */
  'half_body',
  /** Served, and reset before the answer. */
  'drop_answer',
  /** Served, and the answer ends in its middle. */
  'truncate_answer',
  /** Served, and answered with a page of the proxy's own. */
  'html_502',
  /** Served, and answered when nobody waits any more. */
  'delay',
  /** Reset when the whole of it has come, and passed on a while later: a proxy that commits after the socket died. */
  'late',
] as const

/** The last is for deliveries alone: 404 from a cache, whatever the host has. */
export type Fault = (typeof FAULTS)[number] | 'cached_404'
