import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer as createPlainServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { systemClock } from '../protocol/clock.ts'
import { lockData, openDatabase } from './data/database.ts'
import { openPictureFolder } from './data/picture-folder.ts'
import { openHostService } from './host-service.ts'
import { addressesAt, ownSiteUrl } from './http/addresses.ts'
import { answerBadRequests, badRequest } from './http/answers.ts'
import { type App, createApp } from './http/app.ts'
import { authorityFile, type Certificate, serverCertificate } from './http/authority.ts'
import { type HostChoices, type HostClock, settle } from './ports.ts'

export interface HostOptions extends HostChoices {
  data: string
  /** The address to listen on. With port 0 the host takes any free port. */
  listen: { host: string; port: number }
  apiKeys: readonly string[]
  tls: boolean
  clock?: HostClock
  /** Called with each error that is the host's own fault and not a request's. */
  onFault?: (error: Error) => void
}

export interface RunningHost {
  baseUrl: string
  siteUrl: string
  cdnBaseUrl: string
  port: number
  /** The absolute path of the authority that clients must trust; null without TLS. */
  caFile: string | null
  /** Ends the host within a second. When a request needs longer, its connection is closed without an answer. */
  close(): Promise<void>
}

/** Within how many milliseconds a request's headers must arrive. */
const HEADERS_MAX = 10_000

/** Within how many milliseconds a request with its body must arrive, in addition to a credential's life. */
const REQUEST_MARGIN = 30_000

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** Serves the whole interface (§1 to §9), with its data in a folder, which is made. Rejects with code HOST_DATA_IN_USE,
 * Node's error (EADDRINUSE, EACCES) or SQLite's. */
export async function startHost(options: HostOptions): Promise<RunningHost> {
  const settings = settle(options)
  const { data, tls } = options
  await mkdir(data, { mode: 0o700 }).catch(unlessThere)
  const held: (() => void | Promise<void>)[] = []
  const letGo = async () => {
    for (const release of held.splice(0).reverse()) await release()
  }
  try {
    held.push(lockData(data, join(data, 'lock.db')))
    const db = openDatabase(join(data, 'host.db'))
    held.push(() => void db.close())
    const pictures = await openPictureFolder(join(data, 'pictures'), randomBytes)
    const ports = { db, pictures, clock: options.clock ?? systemClock, random: randomBytes }
    const service = openHostService(ports, options.apiKeys, settings)
    held.push(service.settled)
    const { listen: own } = options
    const certificate = tls ? await serverCertificate(data, [own.host]) : null
    const requestMax = settings.credentialTtlMs + REQUEST_MARGIN
    const server = createServer(certificate, { headers: HEADERS_MAX, request: requestMax })
    const port = await listen(server, own.host, own.port)
    held.push(() => close(server))
    const addresses = addressesAt(ownSiteUrl(tls, own.host, port))
    const { readings } = settings
    const onFault = options.onFault ?? (() => {})
    serve(server, createApp(service, { addresses, readings, onFault }))
    return { ...addresses, port, caFile: tls ? resolve(authorityFile(data)) : null, close: letGo }
  } catch (error) {
    await letGo()
    throw error
  }
}

/** After how many milliseconds without a byte a connection is closed. */
const SILENCE_MAX = 60_000

/** How long an idle connection stays open, in ms. Clients close theirs sooner, so none sends into a closing one. */
const IDLE_MAX = 30_000

/** How many milliseconds requests under way get to end when the host closes. */
const GRACE = 500

/** Milliseconds in which a request's headers, and the whole request, must arrive. */
interface Patience {
  headers: number
  request: number
}

export function createServer(certificate: Certificate | null, patience: Patience): Server {
  const options = {
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    // How often Node checks its timeouts. By default it checks every 30 seconds, which is too seldom for a timeout of 10.
    connectionsCheckingInterval: Math.ceil(patience.headers / 10),
    keepAliveTimeout: IDLE_MAX,
    // By default, Node answers a request without a Host header with an empty body. §1 wants a body with every failure.
    requireHostHeader: false,
  }
  const server = certificate ? createTlsServer({ ...options, ...certificate }) : createPlainServer(options)
  server.timeout = SILENCE_MAX
  answerBadRequests(server)
  return server
}

export async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function serve(server: Server, app: App): void {
  const { body, status } = badRequest()
  const listener = getRequestListener(app.fetch, {
    // By default, the adapter replaces the process's global Request and Response.
    overrideGlobalObjects: false,
    // Answers requests whose Host header and path make no valid URL, because the app can't be called without a URL.
    errorHandler: () => Response.json(body, { status }),
  })
  server.on('request', (incoming, outgoing) => void listener(incoming, outgoing))
}

/** Closes the server within a second. When a request needs longer, its connection is closed without an answer. */
export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const cutOff = setTimeout(() => server.closeAllConnections(), GRACE)
  await closed
  clearTimeout(cutOff)
}
