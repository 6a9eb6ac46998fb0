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
import { type Addresses, cdnBaseUrl, deliveryUrl, NODE_PATH } from './addresses.ts'
import { faulted, refused, setRate, written } from './answers.ts'
import { deliver } from './delivery.ts'
import { filePart, readJson } from './upload-form.ts'

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

  function say(c: Context, body: object): Response {
    return c.json(written(body, readings))
  }

  /** §4.1, §4.2: the field cdn_url in the answer to a step of an upload. The readings say which steps have the field. */
  function cdnUrl(imageId: string, step: 'first' | 'second') {
    const isAnswered = readings.cdnUrl === 'both' || readings.cdnUrl === step
    return isAnswered ? { cdn_url: deliveryUrl(addresses, imageId, readings) } : {}
  }

  function admitted(endpoint: Endpoint): MiddlewareHandler<Env> {
    return async (c, next) => {
      const { account, rate } = service.admit(c.req.header(API_KEY_HEADER), endpoint)
      setRate(c, rate, readings)
      c.set('account', account)
      await next()
    }
  }

  async function receive(c: Context<Env>, token: string): Promise<Response> {
    const { credential, rate } = service.admitUpload(token)
    setRate(c, rate, readings)
    const bound = credential.size + readings.formOverheadMax
    const imageId = await service.send(credential, filePart(c.env.incoming, bound))
    return say(c, { success: true, image_id: imageId, ...cdnUrl(imageId, 'second') })
  }

  app.post(VERSION_PATH + PATHS.upload, admitted('upload'), async c => {
    const { token, imageId } = service.requestUpload(
      c.get('account'),
      await readJson(c.env.incoming, readings),
    )
    const uploadUrl = `${addresses.siteUrl}${NODE_PATH}/${token}`
    return say(c, { success: true, data: { upload_url: uploadUrl, ...cdnUrl(imageId, 'first') } })
  })

  app.post(PRESIGN_PATH, admitted('upload'), async c => {
    const { token, imageId } = service.presign(c.get('account'), await readJson(c.env.incoming, readings))
    return c.json({ upload_token: token, upload_url: addresses.siteUrl + NODE_PATH, image_id: imageId })
  })

  app.post(`${NODE_PATH}/:token`, c => receive(c, c.req.param('token')))
  app.post(NODE_PATH, c => receive(c, query(c, 'token') ?? ''))

  app.get(VERSION_PATH + PATHS.list, admitted('list'), c => {
    const listing = service.list(c.get('account'), query(c, 'album_id') || null, query(c, 'page') || null)
    return say(c, { success: true, data: { ...listing, ...cdnBaseUrl(addresses, readings) } })
  })

  app.delete(VERSION_PATH + PATHS.delete, admitted('delete'), async c => {
    const deleted = await service.delete(c.get('account'), { img: query(c, 'img'), album: query(c, 'album') })
    if ('image' in deleted) return say(c, { success: true, message: 'The image was deleted.' })
    return say(c, {
      success: true,
      data: { deleted_albums: deleted.albums, deleted_images: deleted.images },
    })
  })

  app.post(VERSION_PATH + PATHS.create_album, admitted('create_album'), async c => {
    const album = service.createAlbum(c.get('account'), await readJson(c.env.incoming, readings))
    return say(c, { success: true, data: { album } })
  })

  app.get(`${DELIVERY_PATH}:id`, c => deliver(c, service, readings))
  if (readings.delivery !== 'plain') app.get(`${DELIVERY_PATH}:id/:name`, c => deliver(c, service, readings))

  app.get('/', c =>
    c.json({ service: 'albumd host', base_url: addresses.baseUrl, cdn_base_url: addresses.cdnBaseUrl }),
  )

  app.notFound(c => {
    // §5.1: without a valid key, a request below {base_url} is not even told that its path does not exist.
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
