import { VERSION_PATH } from '../../protocol/endpoints.ts'

/** Where a running host is reached. None ends in a slash. */
export interface Addresses {
  /** §9.1 */
  baseUrl: string
  siteUrl: string
  cdnBaseUrl: string
}

/** Upload addresses (§4.2) are below this path of {site_url}. */
export const NODE_PATH = '/node'

/** `host` is what the server listens on; a wildcard is reached as localhost. */
export function addressesOf(tls: boolean, host: string, port: number): Addresses {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const siteUrl = `${tls ? 'https' : 'http'}://${name}:${port}`
  return { baseUrl: siteUrl + VERSION_PATH, siteUrl, cdnBaseUrl: siteUrl }
}
