/** An address in parts. Its path and query are sent byte for byte as they were given. */
export interface Address {
  origin: string
  /** Path and query, raw. */
  path: string
  /** host:port, for messages; it contains no credential. */
  where: string
  secure: boolean
  loopback: boolean
}

const ADDRESS = /^(https?:\/\/(?:[\w.~%-]+|\[[\da-f:.]+\])(?::\d+)?)([/?][!"$-~]*)?$/i

/** Addresses without their paths, by the text before the path. A host has few of them, and names one in each answer. */
const origins = new Map<string, Omit<Address, 'path'> | null>()
const ORIGINS_MOST = 100

/**
 * The path is cut out with a regular expression, because the URL parser rewrites it (`..`, `\`, spaces, quotes) and a
 * credential has to be used exactly as it was given. Null for an address with a user name, with a fragment, or with
 * characters that a request line can't contain (spaces, control and non-ASCII characters).
 */
export function parseAddress(text: string): Address | null {
  const [, base, path = '/'] = ADDRESS.exec(text) ?? []
  if (!base) return null
  let origin = origins.get(base)
  if (origin === undefined) {
    if (origins.size >= ORIGINS_MOST) origins.clear()
    origin = parseOrigin(base)
    origins.set(base, origin)
  }
  return origin && { ...origin, path: path.startsWith('/') ? path : `/${path}` }
}

function parseOrigin(base: string): Omit<Address, 'path'> | null {
  const url = URL.parse(base)
  if (!url) return null
  const secure = url.protocol === 'https:'
  return {
    origin: url.origin,
    where: `${url.hostname}:${url.port || (secure ? 443 : 80)}`,
    secure,
    loopback: isLoopback(url.hostname),
  }
}

/** `hostname` is as the URL parser writes it: in lower case, IP addresses in full. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

/** §5.4: only HTTPS, except from a loopback `base` to a loopback address. */
export function mayBeUsed(address: Address, base: Address): boolean {
  return address.secure || (base.loopback && address.loopback)
}

/**
 * A delivery address that the host at `base` gave, as a request can use it: what a request line can't contain (spaces,
 * non-ASCII characters) is escaped, and a fragment is dropped. Null when the address may not be used.
 */
export function deliveryAddress(text: string, base: Address): string | null {
  if (givenAddress(text, base)) return text
  const url = URL.parse(text)
  if (!url) return null
  url.hash = ''
  return givenAddress(url.href, base) ? url.href : null
}

/** An address that the host at `base` gave; null when it may not be used. */
export function givenAddress(text: string, base: Address): Address | null {
  const address = parseAddress(text)
  return address && mayBeUsed(address, base) ? address : null
}

/**
 * A whole address: `text` itself, or what `text` means in an answer to a request for `asked` (RFC 3986, 5.2). A path is
 * taken byte for byte, unless it counts from the path of the request.
 */
export function wholeAddress(text: string, asked: Pick<Address, 'origin' | 'path'>): string {
  if (text.startsWith('//')) return `${URL.parse(asked.origin)?.protocol}${text}`
  if (text.startsWith('/')) return asked.origin + text
  return URL.canParse(text) ? text : (URL.parse(text, asked.origin + asked.path)?.href ?? text)
}
