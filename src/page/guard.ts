import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6, type Socket } from 'node:net'
import type { Context } from 'hono'
import { auth } from 'hono/utils/basic-auth'
import { orNull } from '../daemon/or-null.ts'

/** Headers of every answer. The page may load nothing from elsewhere, run no inline script and stand in no frame. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // With `no-referrer`, a browser would send the page's own forms with the origin "null".
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** Whether the Host header is an IP address or `localhost`. Another site can make its own name lead to this machine (DNS
 * rebinding), but then the Host header holds that name. */
export function isOwnHost(host: string | undefined): boolean {
  const url = host === undefined ? null : URL.parse(`http://${host}`)
  if (!url || url.username || url.password || url.pathname !== '/' || url.search || url.hash) return false
  const name = url.hostname.replace(/^\[|\]$/g, '')
  return name === 'localhost' || isIP(name) !== 0
}

/** Whether a form was sent by this page itself. Browsers send `Origin` and `Host`, and no site can forge them. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  const from = origin === undefined ? null : URL.parse(origin)
  return host !== undefined && from !== null && from.host === URL.parse(`${from.protocol}//${host}`)?.host
}

/** Whether another site loads a part of the page. A link from another site to the page is allowed. */
export function isAskedByOthers(fetchSite: string | undefined, fetchMode: string | undefined): boolean {
  if (fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none') return false
  return fetchMode !== 'navigate'
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** Whether a request came through a proxy, so that its connection does not tell who asks. */
export function isForwarded({ req }: Context): boolean {
  return FORWARDED.some(name => req.header(name) !== undefined)
}

export function hasKey(request: Request, key: string): boolean {
  const given = auth(request)
  return given !== undefined && isEqual(given.password, key)
}

/** 32 bytes, because 256 random bits can't be guessed. */
const KEY_BYTES = 32

export function newSecret(): string {
  return randomBytes(KEY_BYTES).toString('base64url')
}

/** The key that opens the page to people whom albumd can't recognize by their connection. Only the user of this albumd and
 * root can read its file. The file keeps the key over restarts, so that a browser can remember it. A new key is made when
 * other users could read the file. `made`: the key that is written where the file holds none. */
export function readOrMakeKey(file: string, made = newSecret): string {
  const kept = readKey(file)
  if (kept !== null) return kept
  const key = made()
  // When the key can't be written, as on a full disk, only this process has it. It is written when the page is next opened.
  orNull(() => {
    rmSync(file, { force: true })
    writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
  })
  return key
}

/** The key in the file. Null: there is no file, other users may read it, or it holds no key. */
function readKey(file: string): string | null {
  return orNull(() => {
    const key = readFileSync(file, 'utf8').trim()
    return (statSync(file).mode & 0o077) === 0 && /^[\w-]{43,}$/.test(key) ? key : null
  })
}

/** Whether two texts are equal. The time that this takes does not tell where they differ. */
export function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

/** The user at the other end of each connection, looked up when it begins, because its port may be reused later. */
const users = new WeakMap<Socket, number | null>()

export function noteOtherEnd(socket: Socket): void {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (remoteAddress === undefined || remotePort === undefined) return
  if (localAddress === undefined || localPort === undefined) return
  const ends = { remoteAddress, remotePort, localAddress, localPort }
  users.set(socket, userIn(read('tcp'), ends) ?? userIn(read('tcp6'), ends))
}

/** Whether a request comes from this process's user or root on this machine. Always false where the system is not Linux. */
export function isOwnUser(context: Context): boolean {
  const { incoming } = context.env as { incoming?: IncomingMessage }
  const user = incoming ? (users.get(incoming.socket) ?? null) : null
  return user !== null && (user === 0 || user === process.geteuid?.())
}

function read(table: 'tcp' | 'tcp6'): string {
  return orNull(() => readFileSync(`/proc/self/net/${table}`, 'latin1')) ?? ''
}

type Ends = Record<'remoteAddress' | 'localAddress', string> & Record<'remotePort' | 'localPort', number>

const ESTABLISHED = '01'

/** The user id at the other end of a connection within this machine, by the text of /proc/net/tcp or tcp6. Null: the other
 * end is on another machine, or closed already. */
export function userIn(
  table: string,
  { remoteAddress, remotePort, localAddress, localPort }: Ends,
): number | null {
  for (const line of table.split('\n').slice(1)) {
    // The table has a line for each end of a connection. The line of the other end calls that end "local".
    const [, there = '', here = '', state, , , , user, , inode] = line.trim().split(/\s+/)
    // Skips a line without an inode: its process has closed the socket, and the user then seems to be root.
    if (state !== ESTABLISHED || inode === '0') continue
    if (isEnd(there, remoteAddress, remotePort) && isEnd(here, localAddress, localPort)) return Number(user)
  }
  return null
}

/** Whether a column of the table is this address and port. `column`: both in hexadecimal digits. */
function isEnd(column: string, address: string, port: number): boolean {
  const [hex = '', portHex = ''] = column.split(':')
  if (Number.parseInt(portHex, 16) !== port) return false
  // A BlockList compares all spellings of an address, also an IPv4 address that is written as IPv6.
  const same = new BlockList()
  const listed = addressIn(hex)
  same.addAddress(listed, familyOf(listed))
  return same.check(address, familyOf(address))
}

/** The address in a column. Each 32-bit word is in the machine's byte order, which is little-endian wherever Node runs. */
function addressIn(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32()
  return bytes.length === 4 ? bytes.join('.') : bytes.toString('hex').match(/.{4}/g)!.join(':')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}
