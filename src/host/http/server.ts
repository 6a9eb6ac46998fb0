import { once } from 'node:events'
import { createServer as createPlainServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { App } from './app.ts'
import type { Certificate } from './authority.ts'

/** Milliseconds without a byte after which a connection is given up. */
const SILENCE_MAX = 60_000

/** Milliseconds for which a connection may wait for its next request. Longer than clients do, so that they hang up first. */
const IDLE_MAX = 30_000

/** Milliseconds that requests under way have to end when the host closes. */
const GRACE = 500

/**
 * A server that is not listening yet; over TLS with a certificate, else plain. `requestMax` is the milliseconds within
 * which a request must have come in whole.
 */
export function createServer(certificate: Certificate | null, requestMax: number): Server {
  const timeouts = { headersTimeout: 10_000, requestTimeout: requestMax, keepAliveTimeout: IDLE_MAX }
  const server = certificate ? createTlsServer({ ...timeouts, ...certificate }) : createPlainServer(timeouts)
  server.timeout = SILENCE_MAX
  return server
}

/** Resolves to the port once it listens. Rejects with Node's error, such as EADDRINUSE. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export function serve(server: Server, app: App): void {
  // Else the adapter would put its own Request and Response in place of the whole process's.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
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
