import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Context, Hono } from 'hono'
import { serveApp } from '../daemon/control/server.ts'

/** Where the page listens. */
export interface Address {
  host: string
  port: number
}

export interface PageServer {
  /** For a browser's address bar. */
  url: string
  close(): Promise<void>
}

const CONNECTIONS = 256
/** Milliseconds. */
const HEADERS_WITHIN = 10_000
const REQUEST_WITHIN = 30_000
const GRACE = 200

/** The user at the other end of each connection. Looked up when the connection begins, because its port may be reused later. */
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

/** The two ends of a connection, as this side sees them. */
export interface Ends {
  remoteAddress: string
  remotePort: number
  localAddress: string
  localPort: number
}

/**
 * The user id at the other end of a connection within this machine. Null: the other end is on another machine or closed
 * already, or the system is not Linux, which alone tells it.
 */
function userAt(socket: Socket): number | null {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (remoteAddress === undefined || remotePort === undefined) return null
  if (localAddress === undefined || localPort === undefined) return null
  const ends = { remoteAddress, remotePort, localAddress, localPort }
  for (const table of ['/proc/self/net/tcp', '/proc/self/net/tcp6']) {
    const user = userIn(read(table), ends)
    if (user !== null) return user
  }
  return null
}

function read(table: string): string {
  try {
    return readFileSync(table, 'latin1')
  } catch {
    return ''
  }
}

const ESTABLISHED = '01'

/** Like `userAt`, from the text of /proc/net/tcp or tcp6. */
export function userIn(
  table: string,
  { remoteAddress, remotePort, localAddress, localPort }: Ends,
): number | null {
  // The table has a line for each end. In the other end's line, "local" means the other end.
  const there = `${port(remotePort)}`
  const here = `${port(localPort)}`
  for (const line of table.split('\n').slice(1)) {
    const [, local, remote, state, , , , user, , inode] = line.trim().split(/\s+/)
    if (!local?.endsWith(`:${there}`) || !remote?.endsWith(`:${here}`)) continue
    // A socket that its process has closed seems to belong to root, but has no inode.
    if (state !== ESTABLISHED || inode === '0') continue
    const isSame =
      plainAddress(addressIn(local)) === plainAddress(remoteAddress) &&
      plainAddress(addressIn(remote)) === plainAddress(localAddress)
    if (isSame) return Number(user)
  }
  return null
}

function port(number: number): string {
  return number.toString(16).toUpperCase().padStart(4, '0')
}

/** The table shows each 32-bit word of an address in the machine's byte order, which is little-endian wherever Node runs. */
function addressIn(column: string): string {
  const hex = column.slice(0, column.indexOf(':'))
  const bytes = [...Buffer.from(hex, 'hex')]
  const ordered = Array.from({ length: bytes.length / 4 }, (_, word) =>
    bytes.slice(word * 4, word * 4 + 4).reverse(),
  ).flat()
  if (ordered.length === 4) return ordered.join('.')
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((ordered[at * 2]! << 8) | ordered[at * 2 + 1]!).toString(16),
  )
  return groups.join(':')
}

/** Gives each address one spelling. An IPv4 address that is written as IPv6 becomes plain IPv4. */
function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const plain = URL.parse(`http://[${address.replace(/%.*$/, '')}]`)?.hostname ?? address
  const mapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(plain)
  if (!mapped) return plain
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
