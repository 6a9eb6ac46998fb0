import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

/** A connection's two ends, as this side sees them. */
export interface Ends {
  remoteAddress: string
  remotePort: number
  localAddress: string
  localPort: number
}

/**
 * The user at the other end of a connection within this machine, by his number. Null: he is elsewhere, has gone already,
 * or the system does not tell (only Linux does).
 */
export function userAt(socket: Socket): number | null {
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

/** The same, in the text of one of Linux's tables. */
export function userIn(
  table: string,
  { remoteAddress, remotePort, localAddress, localPort }: Ends,
): number | null {
  // The other end's own line: there "local" is the other side.
  const there = `${port(remotePort)}`
  const here = `${port(localPort)}`
  for (const line of table.split('\n').slice(1)) {
    const [, local, remote, state, , , , user, , inode] = line.trim().split(/\s+/)
    if (!local?.endsWith(`:${there}`) || !remote?.endsWith(`:${here}`)) continue
    // A socket that its process has closed belongs to root, as it seems, and has no inode.
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

/** The words of an address stand there as this machine keeps them in memory: little end first, on all that Node runs on. */
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

/** One spelling for each address; an IPv4 address within IPv6 is that IPv4 address. */
function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const plain = URL.parse(`http://[${address.replace(/%.*$/, '')}]`)?.hostname ?? address
  const mapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(plain)
  if (!mapped) return plain
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
