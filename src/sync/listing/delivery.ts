import { DELIVERY_PATH } from '../../protocol/endpoints.ts'
import { hostWith, type ImageHost } from '../../remote/host.ts'
import type { Records, Synced } from '../../synced/synced.ts'

/*
 * Where the host delivers an image for which it has named no address. There are two sources. Acknowledged uploads show how
 * addresses are built from ids. And a listing names the delivery base, below which images are served (§4.3.3, §4.4).
 */

/** The address of an image of this name; null when it is not known. */
export type AddressOf = (id: string, name: string) => string | null

/** Returns a function that returns addresses. It reads the records once for all images. */
export function deliveryAddresses(synced: Synced): AddressOf {
  const pattern = confirmedPattern(synced)
  const base = synced.meta.get('cdn_base')
  return (id, name) => pattern?.addressOf(id, name) ?? (base && belowBase(base, id))
}

/** §4.3.3: where an image is served below this delivery base. */
export function belowBase(base: string, id: string): string {
  return `${base.replace(/\/+$/, '')}${DELIVERY_PATH}${encodeURIComponent(id)}`
}

/** The id of the image at a delivery address. Null: nothing has shown how addresses are built. */
export function idIn(synced: Records, address: string): string | null {
  const base = synced.meta.get('cdn_base')
  const id = address.slice(address.lastIndexOf('/') + 1)
  return confirmedPattern(synced)?.idOf(address) ?? (base && belowBase(base, id) === address ? id : null)
}

/** A host that records its delivery base when a listing names a new one. */
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

/** How delivery addresses are built from ids. An example: `https://cdn.example/` + id + `.jpg`. */
export type DeliveryPattern = NonNullable<ReturnType<typeof confirmedPattern>>

/** How many addresses are looked at: older ones may follow a pattern that the host does not use any more. */
const SAMPLE = 50

/** The pattern of the addresses of acknowledged uploads. An extension may follow the id. Null: there is none, or several. */
export function confirmedPattern({ images }: Records) {
  let prefix: string | null = null
  const suffixes = new Map<string, string>()
  for (const { remote_id, cdn_url, name } of images.acknowledged(SAMPLE)) {
    const parts = cdn_url.split(remote_id)
    if (parts.length !== 2) return null
    const [before, after] = parts as [string, string]
    const extension = extensionOf(name)
    if ((prefix ?? before) !== before || (suffixes.get(extension) ?? after) !== after) return null
    prefix = before
    suffixes.set(extension, after)
  }
  if (prefix === null) return null
  // The longest ending comes first, because an empty one fits every address.
  const known = [...new Set(suffixes.values())].sort((a, b) => b.length - a.length)
  const only = known.length === 1 ? known[0]! : null
  const start = prefix
  return {
    /** The address of an image of this name; null when no upload with its extension has shown how the address ends. */
    addressOf(id: string, name: string): string | null {
      const suffix = suffixes.get(extensionOf(name)) ?? only
      return suffix === null ? null : start + id + suffix
    },
    /** The id that an address was built from; null when the address does not fit the pattern. */
    idOf(address: string): string | null {
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

/** Whether a delivery address holds this id, and not only as a part of a longer id. */
export function names(address: string | null, id: string): boolean {
  if (address === null) return false
  for (let at = address.indexOf(id); at >= 0; at = address.indexOf(id, at + 1)) {
    const around = [address[at - 1], address[at + id.length]]
    if (around.every(char => char === undefined || !/[\w-]/.test(char))) return true
  }
  return false
}
