import { DELIVERY_PATH } from '../../protocol/endpoints.ts'
import { hostWith, type ImageHost } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'

/*
 * Where the host delivers an image of which it has told no address. There are two sources. Acknowledged uploads show how
 * addresses are built from ids. And a listing names the delivery base, below which an image is served (§4.3.3, §4.4).
 */

/** The address of an image of this name; null when it is not known. */
export type AddressOf = (id: string, name: string) => string | null

/** Reads the records once, so one result serves for many images. */
export function deliveryAddresses(synced: Synced): AddressOf {
  const pattern = confirmedPattern(synced)
  const base = synced.meta.get('cdn_base')
  return (id, name) => pattern?.addressOf(id, name) ?? (base && belowBase(base, id))
}

/** §4.3.3: where an image is served below this delivery base. */
export function belowBase(base: string, id: string): string {
  return `${base.replace(/\/+$/, '')}${DELIVERY_PATH}${encodeURIComponent(id)}`
}

/** The same host. Its delivery base is recorded whenever a listing names another one. */
export function rememberingDelivery(host: ImageHost, synced: Synced): ImageHost {
  return hostWith(host, {
    async list(album, page, signal) {
      const listed = await host.list(album, page, signal)
      const base = listed.ok ? listed.value.cdn_base_url : null
      if (base !== null && base !== synced.meta.get('cdn_base'))
        await synced.commit(tx => tx.meta.set('cdn_base', base))
      return listed
    },
  })
}

/** The pattern of delivery addresses that acknowledged uploads have shown, or null. */
export function confirmedPattern({ images }: Pick<Synced, 'images'>): DeliveryPattern | null {
  return deliveryPattern(images.acknowledged(SAMPLE))
}

/** An upload that the host acknowledged. */
export interface Acknowledged {
  remote_id: string
  cdn_url: string
  name: string
}

/** How delivery addresses are built from ids. An example: `https://cdn.example/` + id + `.jpg`. */
export interface DeliveryPattern {
  /** The address of an image of this name; null when no upload with its extension has shown how the address ends. */
  addressOf(id: string, name: string): string | null
  /** The id that an address was built from; null when the address does not fit the pattern. */
  idOf(address: string): string | null
}

/** How many of the latest acknowledged uploads are read. Older uploads may have addresses of a pattern that the host has left. */
export const SAMPLE = 50

/** Null when the acknowledged uploads show no pattern, or several. What follows the id may depend on the extension. */
export function deliveryPattern(acknowledged: readonly Acknowledged[]): DeliveryPattern | null {
  let prefix: string | null = null
  const suffixes = new Map<string, string>()
  for (const { remote_id, cdn_url, name } of acknowledged) {
    const parts = cdn_url.split(remote_id)
    if (parts.length !== 2) return null
    const [before, after] = parts as [string, string]
    const extension = extensionOf(name)
    if ((prefix ?? before) !== before || (suffixes.get(extension) ?? after) !== after) return null
    prefix = before
    suffixes.set(extension, after)
  }
  if (prefix === null) return null
  // The longest ending first, because every address ends with an empty ending.
  const known = [...new Set(suffixes.values())].sort((a, b) => b.length - a.length)
  const only = known.length === 1 ? known[0]! : null
  const start = prefix
  return {
    addressOf(id, name) {
      const suffix = suffixes.get(extensionOf(name)) ?? only
      return suffix === null ? null : start + id + suffix
    },
    idOf(address) {
      if (!address.startsWith(start)) return null
      const rest = address.slice(start.length)
      const suffix = known.find(end => rest.endsWith(end) && rest.length > end.length)
      return suffix === undefined ? null : rest.slice(0, rest.length - suffix.length)
    },
  }
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot === -1 ? '' : name.slice(dot + 1).toLowerCase()
}
