import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { DECIDED_CODES } from '../../protocol/decisions.ts'
import {
  API_KEY_HEADER,
  DELIVERY_PATH,
  type Endpoint,
  PATHS,
  PRESIGN_PATH,
  VERSION_PATH,
} from '../../protocol/endpoints.ts'
import type { Account } from '../data/accounts.ts'
import type { HostService } from '../host-service.ts'
import { Refusal } from '../refusal.ts'
import { faulted, refused, setRate } from './answers.ts'
import { deliver } from './delivery.ts'
import { filePart, readJson } from './upload-form.ts'

interface Env {
  Bindings: HttpBindings
  Variables: { account: Account }
}

export type App = Hono<Env>

/** The host's logic as HTTP. `onFault` hears of errors that are not the client's. */
export function createApp(service: HostService, addresses: Addresses, onFault: (error: Error) => void): App {
  const app: App = new Hono()
  const cdnUrl = (imageId: string) => addresses.cdnBaseUrl + DELIVERY_PATH + imageId

  function admitted(endpoint: Endpoint): MiddlewareHandler<Env> {
    return async (c, next) => {
      const { account, rate } = service.admit(c.req.header(API_KEY_HEADER), endpoint)
      setRate(c, rate)
      c.set('account', account)
      await next()
    }
  }

  async function receive(c: Context<Env>, token: string): Promise<Response> {
    const { credential, rate } = service.admitUpload(token)
    setRate(c, rate)
    const imageId = await service.send(credential, filePart(c.env.incoming, credential.size))
    return c.json({ success: true, image_id: imageId, cdn_url: cdnUrl(imageId) })
  }

  app.post(VERSION_PATH + PATHS.upload, admitted('upload'), async c => {
    const { token, imageId } = service.requestUpload(c.get('account'), await readJson(c.env.incoming))
    const uploadUrl = `${addresses.siteUrl}${NODE_PATH}/${token}`
    return c.json({ success: true, data: { upload_url: uploadUrl, cdn_url: cdnUrl(imageId) } })
  })

  app.post(PRESIGN_PATH, admitted('upload'), async c => {
    const { token, imageId } = service.presign(c.get('account'), await readJson(c.env.incoming))
    return c.json({ upload_token: token, upload_url: addresses.siteUrl + NODE_PATH, image_id: imageId })
  })

  app.post(`${NODE_PATH}/:token`, c => receive(c, c.req.param('token')))
  app.post(NODE_PATH, c => receive(c, query(c, 'token') ?? ''))

  app.get(VERSION_PATH + PATHS.list, admitted('list'), c => {
    const listing = service.list(c.get('account'), query(c, 'album_id') || null, query(c, 'page') || null)
    return c.json({ success: true, data: { ...listing, cdn_base_url: addresses.cdnBaseUrl } })
  })

  app.delete(VERSION_PATH + PATHS.delete, admitted('delete'), async c => {
    const deleted = await service.delete(c.get('account'), { img: query(c, 'img'), album: query(c, 'album') })
    if ('image' in deleted) return c.json({ success: true, message: 'The image was deleted.' })
    return c.json({
      success: true,
      data: { deleted_albums: deleted.albums, deleted_images: deleted.images },
    })
  })

  app.post(VERSION_PATH + PATHS.create_album, admitted('create_album'), async c => {
    const album = service.createAlbum(c.get('account'), await readJson(c.env.incoming))
    return c.json({ success: true, data: { album } })
  })

  app.get(`${DELIVERY_PATH}:id`, c => deliver(c, service, c.req.param('id')))

  app.get('/', c =>
    c.json({ service: 'albumd host', base_url: addresses.baseUrl, cdn_base_url: addresses.cdnBaseUrl }),
  )

  app.notFound(c => {
    // §5.1: without a valid key {base_url} does not even tell what is not there.
    if (`${c.req.path}/`.startsWith(`${VERSION_PATH}/`)) service.identify(c.req.header(API_KEY_HEADER))
    throw new Refusal(DECIDED_CODES.unknownPath, 'There is nothing here.')
  })

  app.onError((error, c) => {
    if (error instanceof Refusal) return refused(c, error)
    onFault(error)
    return faulted(c)
  })

  return app
}

/** A query parameter; null when it is missing. Refuses a parameter that is given twice. */
function query(c: Context, name: string): string | null {
  const values = c.req.queries(name) ?? []
  if (values.length > 1) throw new Refusal(DECIDED_CODES.repeatedParam, `${name} is given twice.`)
  return values[0] ?? null
}

/** The addresses of a running host. None ends in a slash. */
export interface Addresses {
  /** §9.1 */
  baseUrl: string
  siteUrl: string
  cdnBaseUrl: string
}

/** Upload addresses (§4.2) are below this path of {site_url}. */
export const NODE_PATH = '/node'

/** `host`: what the server listens on. A wildcard is reached as localhost. */
export function addressesOf(tls: boolean, host: string, port: number): Addresses {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const siteUrl = `${tls ? 'https' : 'http'}://${name}:${port}`
  return { baseUrl: siteUrl + VERSION_PATH, siteUrl, cdnBaseUrl: siteUrl }
}
