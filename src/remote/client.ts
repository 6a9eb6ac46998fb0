import type { z } from 'zod'
import { PATHS } from '../protocol/endpoints.ts'
import { answers } from '../protocol/records.ts'
import { ask } from './ask.ts'
import { fetchDelivered } from './download.ts'
import { type GateOptions, openGate } from './gate/gate.ts'
import type { ImageHost } from './host.ts'
import { deliveryAddress, mayBeUsed, parseAddress } from './http/address.ts'
import { Http, type HttpOptions } from './http/http.ts'
import { Secrets } from './secrets.ts'
import { Uploads, type UploadsOptions } from './uploads.ts'

export interface RemoteOptions extends HttpOptions, GateOptions, UploadsOptions {
  /** {base_url}, {site_url} (§9.1). */
  baseUrl: string
  siteUrl: string
  apiKey: string
}

/** Opens the host without sending anything. Throws TypeError for an address or a key that a checked config rules out. */
export function openImageHost(options: RemoteOptions): ImageHost {
  const base = parseAddress(new URL(options.baseUrl).href)
  const site = parseAddress(new URL(options.siteUrl).href)
  if (!base || !site || !mayBeUsed(base, base) || !mayBeUsed(site, site))
    throw new TypeError('base_url and site_url must be HTTPS addresses')
  if (!/^[!-~]+$/.test(options.apiKey))
    throw new TypeError('the API key contains a character that an HTTP header cannot contain')
  const { timeoutMs, apiKey } = options
  const gate = openGate(options)
  const http = new Http(options)
  // Answers have a few kilobytes. One that comes slowly, but without a pause of `timeoutMs`, is ended after twice that
  // time. The 2 seconds are for a short `timeoutMs`, because undici's timers are up to a second late.
  const answerLimitMs = Math.max(timeoutMs * 2, timeoutMs + 2000)
  const connection = { base, site, apiKey, secrets: new Secrets(apiKey), answerLimitMs, gate, http }
  const uploads = new Uploads(connection, options)

  const deletion = (what: { img: string } | { album: string }, mayGo: (() => boolean) | undefined) => {
    const path = `${PATHS.delete}?${new URLSearchParams(what)}`
    return { endpoint: 'delete', method: 'DELETE', below: base, path, mayGo } as const
  }

  return {
    requestUpload: (request, signal) => uploads.request(request, signal),
    send: (credential, picture, signal) => uploads.send(credential, picture, signal),
    list(albumId, page, signal) {
      const { list: schema } = answers
      const query = new URLSearchParams({ ...(albumId !== null && { album_id: albumId }), page: `${page}` })
      const question = {
        endpoint: 'list',
        method: 'GET',
        below: base,
        path: `${PATHS.list}?${query}`,
      } as const
      const read = ({ data: { cdn_base_url, ...page } }: z.infer<typeof schema>) => {
        const told = cdn_base_url ? URL.parse(cdn_base_url, options.baseUrl) : null
        return { ...page, cdn_base_url: told && deliveryAddress(told.href, base) }
      }
      return ask(connection, { ...question, schema, read }, signal)
    },
    deleteImage: (img, signal, mayGo) =>
      ask(connection, { ...deletion({ img }, mayGo), schema: answers.delete_image, read: () => {} }, signal),
    deleteAlbum(album, signal, mayGo) {
      const { delete_album: schema } = answers
      const read = ({ data }: z.infer<typeof schema>) =>
        data ? { albums: data.deleted_albums, images: data.deleted_images } : null
      return ask(connection, { ...deletion({ album }, mayGo), schema, read }, signal)
    },
    createAlbum(json, signal) {
      const { create_album: schema } = answers
      const question = { endpoint: 'create_album', method: 'POST', below: base, json, schema } as const
      return ask(
        connection,
        { ...question, path: PATHS.create_album, read: ({ data }) => data.album },
        signal,
      )
    },
    fetchDelivered: (cdnUrl, maxBytes, signal) => fetchDelivered(http, base, cdnUrl, maxBytes, signal),
    blocks: untried => gate.blocks(untried),
    unblock: endpoint => gate.unblock(endpoint),
    async close() {
      await gate.close()
      await http.close()
    },
  }
}
