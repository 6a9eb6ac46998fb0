import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import type { Context } from 'hono'

/** The user at the other end of each connection. Noted when a connection begins, because its port may be reused later. */
const users = new WeakMap<Socket, number | null>()

export function noteOtherEnd(socket: Socket): void {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (remoteAddress === undefined || remotePort === undefined) return
  if (localAddress === undefined || localPort === undefined) return
  const ends = { remoteAddress, remotePort, localAddress, localPort }
  users.set(socket, userIn(read('tcp'), ends) ?? userIn(read('tcp6'), ends))
}

/** Whether a request comes from this process's user or root on this machine. Only Linux tells the user, else false. */
export function isOwnUser(context: Context): boolean {
  const { incoming } = context.env as { incoming?: IncomingMessage }
  const user = incoming ? (users.get(incoming.socket) ?? null) : null
  return user !== null && (user === 0 || user === process.geteuid?.())
}

function read(table: 'tcp' | 'tcp6'): string {
  try {
    return readFileSync(`/proc/self/net/${table}`, 'latin1')
  } catch {
    return ''
  }
}

/** The two ends of a connection, as this side sees them. */
export type Ends = Record<'remoteAddress' | 'localAddress', string> &
  Record<'remotePort' | 'localPort', number>

const ESTABLISHED = '01'

/**
 * The user id at the other end of a connection within this machine, by the text of /proc/net/tcp or tcp6. Null: the other
 * end is on another machine, or closed already.
 */
export function userIn(
  table: string,
  { remoteAddress, remotePort, localAddress, localPort }: Ends,
): number | null {
  for (const line of table.split('\n').slice(1)) {
    // The table has a line for each end. In the other end's line, "local" means the other end.
    const [, there = '', here = '', state, , , , user, , inode] = line.trim().split(/\s+/)
    // A socket that its process has closed seems to belong to root, but has no inode.
    if (state !== ESTABLISHED || inode === '0') continue
    if (isEnd(there, remoteAddress, remotePort) && isEnd(here, localAddress, localPort)) return Number(user)
  }
  return null
}

/** `column`: address and port in hexadecimal digits. */
function isEnd(column: string, address: string, port: number): boolean {
  const [hex = '', portHex = ''] = column.split(':')
  if (Number.parseInt(portHex, 16) !== port) return false
  // A BlockList knows all spellings of an address, also an IPv4 address that is written as IPv6.
  const same = new BlockList()
  const listed = addressIn(hex)
  same.addAddress(listed, familyOf(listed))
  return same.check(address, familyOf(address))
}

/** The table shows each 32-bit word of an address in the machine's byte order: little-endian wherever Node runs. */
function addressIn(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32()
  return bytes.length === 4 ? bytes.join('.') : bytes.toString('hex').match(/.{4}/g)!.join(':')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}
