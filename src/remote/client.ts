import { type Gate, type GateOptions, openGate } from './gate/gate.ts'
import type { ImageHost } from './host.ts'
import { mayBeUsed, parseAddress } from './http/address.ts'
import type { RequestOptions, Requests } from './requests.ts'

export interface RemoteOptions extends GateOptions, RequestOptions {
  siteUrl: string
  /** Resolves once the first request may leave. */
  begins?: () => Promise<void>
}

/** Opens the host without sending anything. Throws TypeError for an invalid address or key, as no checked config has. */
export function openImageHost(options: RemoteOptions): ImageHost & Pick<Gate, 'block'> {
  const base = parseAddress(new URL(options.baseUrl).href)
  const site = parseAddress(new URL(options.siteUrl).href)
  if (!base || !site || !mayBeUsed(base, base) || !mayBeUsed(site, site))
    throw new TypeError('base_url and site_url must be HTTPS addresses')
  if (!/^[!-~]+$/.test(options.apiKey))
    throw new TypeError('the API key contains a character that an HTTP header cannot contain')
  const gate = openGate(options)
  let loaded: Promise<Requests> | null = null
  // HTTP and the schemas of answers are loaded late: they are half of what a short command would load, and most send nothing.
  const requests = () => {
    loaded ??= Promise.all([import('./requests.ts'), options.begins?.()]).then(([{ openRequests }]) =>
      openRequests({ base, site, gate }, options),
    )
    return loaded
  }
  return {
    requestUpload: async (...asked) => (await requests()).requestUpload(...asked),
    send: async (...asked) => (await requests()).send(...asked),
    list: async (...asked) => (await requests()).list(...asked),
    deleteImage: async (...asked) => (await requests()).deleteImage(...asked),
    deleteAlbum: async (...asked) => (await requests()).deleteAlbum(...asked),
    createAlbum: async (...asked) => (await requests()).createAlbum(...asked),
    fetchDelivered: async (...asked) => (await requests()).fetchDelivered(...asked),
    block: failure => gate.block(failure),
    blocks: untried => gate.blocks(untried),
    unblock: endpoint => gate.unblock(endpoint),
    askNow: () => gate.askNow(),
    async close() {
      await gate.close()
      // When loading failed, nothing was sent, so nothing is open.
      await (await loaded?.catch(() => null))?.close()
      return gate.recent()
    },
  }
}
