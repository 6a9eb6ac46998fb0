import { DELIVERY_PATH, VERSION_PATH } from '../../protocol/endpoints.ts'

/** The addresses of a running host. None ends in a slash. */
export interface Addresses {
  /** §9.1 */
  baseUrl: string
  siteUrl: string
  cdnBaseUrl: string
}

/** Upload addresses (§4.2) are below this path of {site_url}. */
export const NODE_PATH = '/node'

export function addressesAt(siteUrl: string): Addresses {
  return { baseUrl: siteUrl + VERSION_PATH, siteUrl, cdnBaseUrl: siteUrl }
}

/** The host's own {site_url}. For a wildcard address such as 0.0.0.0 it names localhost. */
export function ownSiteUrl(tls: boolean, host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tls ? 'https' : 'http'}://${name}:${port}`
}

/** §4.3.3 */
export function deliveryUrl({ cdnBaseUrl }: Addresses, imageId: string): string {
  return cdnBaseUrl + DELIVERY_PATH + imageId
}
