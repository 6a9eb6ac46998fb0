import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer as createPlainServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { lockData, openDatabase } from './data/database.ts'
import { openPictureFolder } from './data/picture-folder.ts'
import { openHostService } from './host-service.ts'
import { addressesAt, ownSiteUrl } from './http/addresses.ts'
import { answerBadRequests, badRequest } from './http/answers.ts'
import { type App, createApp } from './http/app.ts'
import { authorityFile, type Certificate, serverCertificate } from './http/authority.ts'
import { type Clock, type HostChoices, settle, systemClock } from './ports.ts'
import type { Readings } from './readings.ts'

export interface HostOptions extends HostChoices {
  /** The folder that holds all data. */
  data: string
  /** Port 0 takes any free port. */
  listen: { host: string; port: number }
  /** Each key has an account of its own. */
  apiKeys: readonly string[]
  /** False serves plain HTTP. */
  tls: boolean
  /**
   * {site_url}, where other machines reach the host. Without `publicUrl`, the host tells clients the address that it
   * listens on.
   */
  publicUrl?: string
  clock?: Clock
  /** Called with errors that no request has caused. */
  onFault?: (error: Error) => void
}

export interface RunningHost {
  baseUrl: string
  siteUrl: string
  cdnBaseUrl: string
  /** The port that the host listens on. */
  port: number
  /** The absolute path of the authority that clients must trust; null without TLS. */
  caFile: string | null
  /** Ends the host within a second. Requests that last longer are cut off. */
  close(): Promise<void>
}

/** Milliseconds in which a request's headers must arrive. */
const HEADERS_MAX = 10_000

/** A whole request must arrive within a credential's life and this many milliseconds. */
const REQUEST_MARGIN = 30_000

/** The name or address in a URL. The brackets of an IPv6 address belong to the URL alone. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}

/** Ignores the error of mkdir for a folder that exists already. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/**
 * Serves all nine parts of the specification from a folder. The folder is made when it is missing; the folders above it must
 * exist. Rejects with code HOST_DATA_IN_USE when another host uses the folder, and with Node's error (EADDRINUSE, EACCES) or
 * SQLite's when the host can't listen or use the folder.
 */
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
    const { publicUrl, listen: own } = options
    const names = publicUrl === undefined ? [own.host] : [own.host, hostOf(publicUrl)]
    const certificate = tls ? await serverCertificate(data, names) : null
    const requestMax = settings.credentialTtlMs + REQUEST_MARGIN
    const { readings } = settings
    const server = createServer(certificate, { headers: HEADERS_MAX, request: requestMax }, readings)
    const port = await listen(server, own.host, own.port)
    held.push(() => close(server))
    const addresses = addressesAt(publicUrl ?? ownSiteUrl(tls, own.host, port))
    const onFault = options.onFault ?? (() => {})
    serve(server, createApp(service, { addresses, readings, onFault }), readings)
    return { ...addresses, port, caFile: tls ? resolve(authorityFile(data)) : null, close: letGo }
  } catch (error) {
    await letGo()
    throw error
  }
}

/** Milliseconds without a byte after which a connection is closed. */
const SILENCE_MAX = 60_000

/** Milliseconds that a connection may wait for its next request. Clients wait shorter, so they close first. */
const IDLE_MAX = 30_000

/** Milliseconds that requests under way have to end when the host closes. */
const GRACE = 500

/** Milliseconds within which a request must have been received. */
interface Patience {
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

function serve(server: Server, app: App, readings: Readings): void {
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
