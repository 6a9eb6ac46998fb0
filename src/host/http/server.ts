import { once } from 'node:events'
import { createServer as createPlainServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Readings } from '../readings.ts'
import { answerBadRequests, badRequest } from './answers.ts'
import type { App } from './app.ts'
import type { Certificate } from './authority.ts'

/** Milliseconds without a byte after which a connection is closed. */
const SILENCE_MAX = 60_000

/** Milliseconds that a connection may wait for its next request. Clients wait shorter, so they close first. */
const IDLE_MAX = 30_000

/** Milliseconds that requests under way have to end when the host closes. */
const GRACE = 500

/** Milliseconds within which a request must have been received. */
export interface Patience {
  headers: number
  /** The whole request with its body. */
  request: number
}

/** A server that does not listen yet. With a certificate it speaks TLS, else plain HTTP. */
export function createServer(
  certificate: Certificate | null,
  patience: Patience,
  readings: Readings,
): Server {
  const options = {
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    // How often Node checks these times. Its default is every 30 seconds.
    connectionsCheckingInterval: Math.ceil(patience.headers / 10),
    keepAliveTimeout: IDLE_MAX,
    // Without this Node refuses a request without Host with an empty body, which §1 does not allow.
    requireHostHeader: false,
  }
  const server = certificate ? createTlsServer({ ...options, ...certificate }) : createPlainServer(options)
  server.timeout = SILENCE_MAX
  answerBadRequests(server, readings)
  return server
}

/** Resolves to the port once it listens. Rejects with Node's error, such as EADDRINUSE. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export function serve(server: Server, app: App, readings: Readings): void {
  const { body, status } = badRequest(readings)
  const listener = getRequestListener(app.fetch, {
    // Without this the adapter replaces the process's global Request and Response.
    overrideGlobalObjects: false,
    // Called for requests whose Host or path make no URL. All others are answered by the app.
    errorHandler: () => Response.json(body, { status }),
  })
  server.on('request', (incoming, outgoing) => void listener(incoming, outgoing))
}

/** Closes the server within a second. Requests that last longer are cut off. */
export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const cutOff = setTimeout(() => server.closeAllConnections(), GRACE)
  await closed
  clearTimeout(cutOff)
}
