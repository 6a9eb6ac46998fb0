import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openDatabase } from './data/database.ts'
import { lockData } from './data/lock.ts'
import { openPictureFolder } from './data/picture-folder.ts'
import { openHostService } from './host-service.ts'
import { addressesOf } from './http/addresses.ts'
import { createApp } from './http/app.ts'
import { authorityFile, serverCertificate } from './http/authority.ts'
import { close, createServer, listen, serve } from './http/server.ts'
import { type Clock, systemClock } from './ports.ts'
import { type HostChoices, settle } from './settings.ts'

export interface HostOptions extends HostChoices {
  /** The folder that holds everything; it is made where it is missing. */
  data: string
  /** Port 0 is any that is free. */
  listen: { host: string; port: number }
  /** One account to each. */
  apiKeys: readonly string[]
  /** False serves plain HTTP. */
  tls: boolean
  clock?: Clock
  /** Hears of errors that no request caused; without it they go unheard. */
  onFault?: (error: Error) => void
}

export interface RunningHost {
  baseUrl: string
  siteUrl: string
  cdnBaseUrl: string
  /** The authority that clients are to trust, absolute; null without TLS. */
  caFile: string | null
  /** Cuts off what is under way within a second. */
  close(): Promise<void>
}

/** Milliseconds that a request's headers may take to come in. */
const HEADERS_MAX = 10_000

/** Milliseconds beyond a credential's life that a request may take to come in. */
const REQUEST_MARGIN = 30_000

/** A folder that is there already is used. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/**
 * Serves all nine parts of the specification from a folder, which is made when only its last part is missing. Rejects with code HOST_DATA_IN_USE where another host has
 * the folder, and with Node's own error (EADDRINUSE, EACCES) or SQLite's where it can't listen or use the folder.
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
    const lock = lockData(data, join(data, 'lock.db'))
    held.push(lock.release)
    const db = openDatabase(join(data, 'host.db'))
    held.push(() => void db.close())
    const pictures = await openPictureFolder(join(data, 'pictures'), randomBytes)
    const ports = { db, pictures, clock: options.clock ?? systemClock, random: randomBytes }
    const service = openHostService(ports, options.apiKeys, settings)
    held.push(service.settled)
    const certificate = tls ? await serverCertificate(data, options.listen.host) : null
    const requestMax = settings.credentialTtlMs + REQUEST_MARGIN
    const server = createServer(certificate, { headers: HEADERS_MAX, request: requestMax })
    const port = await listen(server, options.listen.host, options.listen.port)
    held.push(() => close(server))
    const addresses = addressesOf(tls, options.listen.host, port)
    serve(server, createApp(service, addresses, options.onFault ?? (() => {})))
    return { ...addresses, caFile: tls ? resolve(authorityFile(data)) : null, close: letGo }
  } catch (error) {
    await letGo()
    throw error
  }
}
