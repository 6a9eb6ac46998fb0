/** An address split so that its path and query go over the wire byte for byte as they were given. */
export interface Address {
  origin: string
  /** Path and query, raw. */
  path: string
  /** host:port, fit for messages: it holds no credential. */
  where: string
  secure: boolean
  loopback: boolean
}

/**
 * The path is cut out by hand, because the URL parser rewrites it (`..`, `\`, spaces, quotes). What can't
 * stand in a request line as it is (spaces, control and non-ASCII characters), a fragment, and a user name
 * give null.
 */
const ADDRESS = /^(https?:\/\/(?:[\w.~%-]+|\[[\da-f:.]+\])(?::\d+)?)([/?][!"$-~]*)?$/i

export function parseAddress(text: string): Address | null {
  const [, base, path = '/'] = ADDRESS.exec(text) ?? []
  if (!base || !URL.canParse(base)) return null
  const url = new URL(base)
  const secure = url.protocol === 'https:'
  return {
    origin: url.origin,
    path: path.startsWith('/') ? path : `/${path}`,
    where: `${url.hostname}:${url.port || (secure ? 443 : 80)}`,
    secure,
    loopback: isLoopback(url.hostname),
  }
}

/** `hostname` as the URL parser writes it: lower case, addresses in full. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

/** §5.4: HTTPS alone, save between loopback addresses. */
export function mayBeUsed(address: Address, base: Address): boolean {
  return address.secure || (base.loopback && address.loopback)
}

/** An address that the host at `base` gave, where it may be used. */
export function givenAddress(text: string, base: Address): Address | null {
  const address = parseAddress(text)
  return address && mayBeUsed(address, base) ? address : null
}
