import { isIPv4 } from 'node:net'
import { z } from 'zod'
import { VERSION_PATH } from '../protocol/endpoints.ts'
import { text } from './values.ts'

/** §9.1: {base_url}, without a slash at its end. */
export const baseUrl = address(`an address such as https://images.example.com${VERSION_PATH}`)
  .refine(url => /\/api\/v1\/?$/.test(url.pathname), `must end in ${VERSION_PATH}`)
  .transform(url => url.origin + url.pathname.replace(/\/$/, ''))

/** {site_url}, for the presign form (§4.3): an origin. */
export const siteUrl = address('an address such as https://images.example.com')
  .refine(url => url.pathname === '/', 'must have nothing after its host name and port')
  .transform(url => url.origin)

/** An address of somebody else, asked as it is: a query is a part of it. */
export const heartbeatUrl = address('an address such as https://hc-ping.com/your-check', true).transform(
  url => url.href,
)

/** Whether an address stays on this machine: 127.0.0.0/8, ::1, localhost. The URL parser writes 127.1 as 127.0.0.1. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
}

/** An address of the service: HTTPS only (§5.4), plain HTTP within this machine. */
function address(what: string, mayHaveQuery = false) {
  return text(what).transform((written, context) => {
    // The URL parser would drop line breaks and go on.
    const url = /\s/.test(written) ? null : URL.parse(written)
    const fault = url ? faultOf(url, mayHaveQuery) : `must be ${what}`
    if (url && fault === null) return url
    context.addIssue(fault ?? '')
    return z.NEVER
  })
}

function faultOf(url: URL, mayHaveQuery: boolean): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.protocol === 'http:' && !isLoopback(url))
    return 'must begin with https://; plain http is for loopback addresses alone'
  if (url.username || url.password) return 'must not carry a user name or password'
  // An empty query is not in `search`, and would be in every request.
  if (!mayHaveQuery && /[?#]/.test(url.href)) return 'must not carry a query (?) or a fragment (#)'
  return null
}
