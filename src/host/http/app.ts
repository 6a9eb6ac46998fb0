import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import {
  API_KEY_HEADER,
  DELIVERY_PATH,
  type Endpoint,
  PATHS,
  PRESIGN_PATH,
  VERSION_PATH,
} from '../../protocol/endpoints.ts'
import type { Account } from '../data/accounts.ts'
import type { Readings } from '../decisions.ts'
import type { HostService } from '../host-service.ts'
import { Refusal } from '../refusal.ts'
import { type Addresses, deliveryUrl, NODE_PATH } from './addresses.ts'
import { faulted, refused, setRate } from './answers.ts'
import { deliver } from './delivery.ts'
import { filePart, readJson } from './upload-form.ts'

/** §4.2: the most bytes of a form without the picture: boundaries, and other parts, which are ignored. */
const FORM_OVERHEAD_MAX = 2 ** 20

interface Env {
  Bindings: HttpBindings
  Variables: { account: Account }
}

export type App = Hono<Env>

interface AppOptions {
  addresses: Addresses
  readings: Readings
  /** Called with an error that is the host's own fault and not the client's. */
  onFault(error: Error): void
}

export function createApp(service: HostService, { addresses, readings, onFault }: AppOptions): App {
  const app: App = new Hono()

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
    const bound = credential.size + FORM_OVERHEAD_MAX
    const imageId = await service.send(credential, filePart(c.env.incoming, bound))
    return c.json({ success: true, image_id: imageId, cdn_url: deliveryUrl(addresses, imageId) })
  }

  app.post(VERSION_PATH + PATHS.upload, admitted('upload'), async c => {
    const { token, imageId } = service.requestUpload(c.get('account'), await readJson(c.env.incoming))
    const uploadUrl = `${addresses.siteUrl}${NODE_PATH}/${token}`
    return c.json({
      success: true,
      data: { upload_url: uploadUrl, cdn_url: deliveryUrl(addresses, imageId) },
    })
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

  app.get(`${DELIVERY_PATH}:id`, c => deliver(c, service))

  app.get('/', c =>
    c.json({ service: 'albumd host', base_url: addresses.baseUrl, cdn_base_url: addresses.cdnBaseUrl }),
  )

  app.notFound(c => {
    // §5.1: without a valid key, a request below {base_url} is not told that its path does not exist.
    if (`${c.req.path}/`.startsWith(`${VERSION_PATH}/`)) service.identify(c.req.header(API_KEY_HEADER))
    throw new Refusal('unknownPath', 'There is nothing here.')
  })

  app.onError((error, c) => {
    if (error instanceof Refusal) return refused(c, error, readings)
    onFault(error)
    return faulted(c)
  })

  return app
}

/** A query parameter; null when it is missing. Refuses a parameter that is given twice. */
function query(c: Context, name: string): string | null {
  const values = c.req.queries(name) ?? []
  if (values.length > 1) throw new Refusal('repeatedParam', `${name} is given twice.`)
  return values[0] ?? null
}
