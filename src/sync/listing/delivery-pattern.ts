/** An upload that the host acknowledged. */
export interface Acknowledged {
  remote_id: string
  cdn_url: string
  name: string
}

/** How delivery addresses are built from ids, as far as acknowledged uploads have shown. */
export interface DeliveryPattern {
  /** The address of an image of this name; null where nothing has shown how it would look. */
  addressOf(id: string, name: string): string | null
  /** The id that an address was built from; null where it does not fit. */
  idOf(address: string): string | null
}

/** How many acknowledged uploads are asked: a host may have changed its addresses since the first. */
export const SAMPLE = 50

/** Null where the acknowledged uploads show no one pattern. What stands after the id may depend on the extension. */
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
  // The longest first: every address ends in an empty one.
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
