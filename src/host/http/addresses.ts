import { DELIVERY_PATH, VERSION_PATH } from '../../protocol/endpoints.ts'
import type { Readings } from '../decisions.ts'

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

/** {site_url} when nobody has configured one. For a wildcard address such as 0.0.0.0 it says localhost. */
export function ownSiteUrl(tls: boolean, host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tls ? 'https' : 'http'}://${name}:${port}`
}

/** What each reading appends to the delivery address of §4.3.3. */
const NAMES: Record<Readings['delivery'], string> = {
  plain: '',
  'raw-space': '/a picture',
  'non-ascii': '/Bild-ä',
}

export function deliveryUrl({ cdnBaseUrl }: Addresses, imageId: string, { delivery }: Readings): string {
  return cdnBaseUrl + DELIVERY_PATH + imageId + NAMES[delivery]
}

/** §4.4: cdn_base_url in the form that the reading names. */
export function cdnBaseUrl(addresses: Addresses, { cdnBaseUrl }: Readings): { cdn_base_url?: string } {
  switch (cdnBaseUrl) {
    case 'absolute':
      return { cdn_base_url: addresses.cdnBaseUrl }
    case 'without-scheme':
      return { cdn_base_url: addresses.cdnBaseUrl.replace(/^https?:/, '') }
    case 'relative':
      return { cdn_base_url: '' }
    case 'absent':
      return {}
  }
}
