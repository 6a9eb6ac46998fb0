import { once } from 'node:events'
import { createServer as createPlainServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { App } from './app.ts'
import type { Certificate } from './authority.ts'
import { answerBadRequests, badRequest } from './bad-request.ts'

/** Milliseconds without a byte after which a connection is given up. */
const SILENCE_MAX = 60_000

/** Milliseconds for which a connection may wait for its next request. Longer than clients do, so that they hang up first. */
const IDLE_MAX = 30_000

/** Milliseconds that requests under way have to end when the host closes. */
const GRACE = 500

/** Milliseconds within which a request must have come in. */
export interface Patience {
  headers: number
  /** With its body. */
  request: number
}

/** A server that is not listening yet; over TLS with a certificate, else plain. */
export function createServer(certificate: Certificate | null, patience: Patience): Server {
  const options = {
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    // How often Node looks whether either is over; by itself every half minute.
    connectionsCheckingInterval: Math.ceil(patience.headers / 10),
    keepAliveTimeout: IDLE_MAX,
    // Node would refuse a request without Host with no body at all (§1).
    requireHostHeader: false,
  }
  const server = certificate ? createTlsServer({ ...options, ...certificate }) : createPlainServer(options)
  server.timeout = SILENCE_MAX
  answerBadRequests(server)
  return server
}

/** Resolves to the port once it listens. Rejects with Node's error, such as EADDRINUSE. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export function serve(server: Server, app: App): void {
  const listener = getRequestListener(app.fetch, {
    // Else the adapter would put its own Request and Response in place of the whole process's.
    overrideGlobalObjects: false,
    // The app answers for itself; what comes here has a Host or a path that make no URL.
    errorHandler: () => Response.json(badRequest, { status: 400 }),
  })
  server.on('request', (incoming, outgoing) => void listener(incoming, outgoing))
}

/** Resolves within a second: what is not answered by then is cut off. */
export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const cutOff = setTimeout(() => server.closeAllConnections(), GRACE)
  await closed
  clearTimeout(cutOff)
}
