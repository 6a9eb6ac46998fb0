import { isLoopback } from '../../protocol/endpoints.ts'

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

/** The parsed parts of addresses before the path, by their text. They are kept, because a host names a few of them in each
 * answer. */
const origins = new Map<string, Omit<Address, 'path'> | null>()
const ORIGINS_MOST = 100

/** Parses an address. Does not use the URL parser, which would rewrite the path (`..`, `\`, spaces): a credential must be used
 * exactly as it was given. Null for an address with a user, a fragment, or what a request line can't contain. */
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
    loopback: isLoopback(url),
  }
}

/** Whether an address may be used: HTTPS, or loopback when the host (`base`) has a loopback address itself (§5.4). */
export function mayBeUsed(address: Address, base: Address): boolean {
  return address.secure || (base.loopback && address.loopback)
}

/** A delivery address of the host at `base` in a form that a request can use, escaped and without a fragment; or null. */
export function deliveryAddress(text: string, base: Address): string | null {
  if (givenAddress(text, base)) return text
  const url = URL.parse(text)
  if (!url) return null
  url.hash = ''
  return givenAddress(url.href, base) ? url.href : null
}

/** An address that the host at `base` gave, parsed. Null when it may not be used. */
export function givenAddress(text: string, base: Address): Address | null {
  const address = parseAddress(text)
  return address && mayBeUsed(address, base) ? address : null
}

/** The whole address for `text` in the answer to the request for `asked` (RFC 3986, 5.2). A path is taken byte for byte. */
export function wholeAddress(text: string, asked: Address): string {
  if (text.startsWith('//')) return `${URL.parse(asked.origin)?.protocol}${text}`
  if (text.startsWith('/')) return asked.origin + text
  return URL.canParse(text) ? text : (URL.parse(text, asked.origin + asked.path)?.href ?? text)
}
