import { isIP } from 'node:net'
import { isEqual } from './key.ts'

/** Goes with every answer. Nothing is taken from elsewhere, nothing may frame it, and no script stands in the page. */
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
  // With no-referrer a browser would send its own forms with the origin "null".
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/**
 * Whether a page of another site can't stand behind this Host header. Another site can have its own name lead to this
 * machine (DNS rebinding); an address or localhost it can't.
 */
export function isOwnHost(host: string | undefined): boolean {
  const url = host === undefined ? null : URL.parse(`http://${host}`)
  if (!url || url.username || url.password || url.pathname !== '/' || url.search || url.hash) return false
  const name = url.hostname.replace(/^\[|\]$/g, '')
  return name === 'localhost' || isIP(name) !== 0
}

/** Whether a request that changes something comes from this very page. Browsers send both, and no site can forge them. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  const from = origin === undefined ? null : URL.parse(origin)
  return host !== undefined && from !== null && from.host === hostOf(from.protocol, host)
}

function hostOf(protocol: string, host: string): string | undefined {
  return URL.parse(`${protocol}//${host}`)?.host
}

/** Whether what is asked for is to be shown by another site. Only the page itself may be led to. */
export function isAskedByOthers(fetchSite: string | undefined, fetchMode: string | undefined): boolean {
  if (fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none') return false
  return fetchMode !== 'navigate'
}

/** By these a proxy says that it asks for somebody else. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** Whether a request says that it comes through a proxy: then its connection tells nothing of who asks. */
export function isForwarded(header: (name: string) => string | undefined): boolean {
  return FORWARDED.some(name => header(name) !== undefined)
}

/** Whether an Authorization header (Basic) has the key for its password. The name does not matter. */
export function hasKey(authorization: string | undefined, key: string): boolean {
  const [, encoded] = /^Basic +([\w+/=-]+)$/i.exec(authorization ?? '') ?? []
  if (encoded === undefined) return false
  const given = Buffer.from(encoded, 'base64').toString()
  return isEqual(given.slice(given.indexOf(':') + 1), key)
}
