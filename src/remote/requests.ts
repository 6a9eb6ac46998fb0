import { PATHS } from '../protocol/endpoints.ts'
import { answers } from '../protocol/records.ts'
import { ask, type Connection } from './ask.ts'
import { download } from './download.ts'
import type { ImageHost } from './host.ts'
import { deliveryAddress } from './http/address.ts'
import type { HttpOptions } from './http/exchange.ts'
import { Http } from './http/http.ts'
import { Secrets } from './secrets.ts'
import { Uploads, type UploadsOptions } from './uploads.ts'

export interface RequestOptions extends HttpOptions, UploadsOptions {
  baseUrl: string
  apiKey: string
}

/** What is sent to the host. */
export type Requests = Omit<ImageHost, 'blocks' | 'unblock' | 'askNow' | 'close'> & { close(): Promise<void> }

/** Opens what sends the requests of `openImageHost`. */
export function openRequests(
  way: Pick<Connection, 'base' | 'site' | 'gate'>,
  options: RequestOptions,
): Requests {
  const { base } = way
  const { timeoutMs, apiKey } = options
  const http = new Http(options)
  // An answer has a few kilobytes, so it must be complete within twice `timeoutMs`. undici's timers are up to a second late.
  const answerLimitMs = Math.max(timeoutMs * 2, timeoutMs + 2000)
  const connection = { ...way, apiKey, secrets: new Secrets(apiKey), answerLimitMs, http }
  const uploads = new Uploads(connection, options)

  const deletion = (what: { img: string } | { album: string }, mayGo: (() => boolean) | undefined) => {
    const path = `${PATHS.delete}?${new URLSearchParams(what)}`
    return { endpoint: 'delete', method: 'DELETE', below: base, path, mayGo } as const
  }

  return {
    requestUpload: (request, signal) => uploads.request(request, signal),
    send: (credential, picture, signal) => uploads.send(credential, picture, signal),
    list(albumId, page, signal) {
      const query = new URLSearchParams({ ...(albumId !== null && { album_id: albumId }), page: `${page}` })
      return ask(connection, signal, {
        endpoint: 'list',
        method: 'GET',
        below: base,
        path: `${PATHS.list}?${query}`,
        schema: answers.list,
        read({ data: { cdn_base_url, ...page } }) {
          const told = cdn_base_url ? URL.parse(cdn_base_url, options.baseUrl) : null
          return { ...page, cdn_base_url: told && deliveryAddress(told.href, base) }
        },
      })
    },
    deleteImage: (img, signal, mayGo) =>
      ask(connection, signal, { ...deletion({ img }, mayGo), schema: answers.deletion, read: () => {} }),
    deleteAlbum: (album, signal, mayGo) =>
      ask(connection, signal, { ...deletion({ album }, mayGo), schema: answers.deletion, read: () => {} }),
    createAlbum: (json, signal, mayGo) =>
      ask(connection, signal, {
        endpoint: 'create_album',
        method: 'POST',
        below: base,
        path: PATHS.create_album,
        json,
        mayGo,
        schema: answers.create_album,
        read: ({ data }) => data.album,
      }),
    fetchDelivered: (cdnUrl, answerMax, signal, onChunk) =>
      download(http, base, cdnUrl, { headers: {}, answerMax, ...(onChunk && { onChunk }) }, signal),
    close: () => http.close(),
  }
}
