import { createServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Context, Hono } from 'hono'
import { serveApp } from '../daemon/control/http-server.ts'
import { userAt } from './peer.ts'

/** Where it listens. */
export interface Address {
  host: string
  port: number
}

export interface PageServer {
  /** As a browser takes it. */
  url: string
  close(): Promise<void>
}

const CONNECTIONS = 256
/** Milliseconds. */
const HEADERS_WITHIN = 10_000
const REQUEST_WITHIN = 30_000
const GRACE = 200

/** The user at the other end of each connection. Looked up when it begins, because its port may be another's later. */
const users = new WeakMap<Socket, number | null>()

/** Serves `app` to browsers. Rejects with Node's error, such as EADDRINUSE. */
export async function servePage(app: Hono, { host, port }: Address): Promise<PageServer> {
  const server = createServer({ headersTimeout: HEADERS_WITHIN, requestTimeout: REQUEST_WITHIN })
  server.maxConnections = CONNECTIONS
  server.on('connection', socket => void users.set(socket, userAt(socket)))
  const close = await serveApp(server, app, () => server.listen({ host, port }), GRACE)
  const { port: taken } = server.address() as { port: number }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/`,
    close,
  }
}

/** Whether a request comes from this process's user, or from root, within this machine. */
export function isOwnUser(context: Context): boolean {
  const { incoming } = context.env as { incoming?: IncomingMessage }
  const user = incoming ? (users.get(incoming.socket) ?? null) : null
  return user !== null && (user === 0 || user === process.geteuid?.())
}
