import { readFileSync } from 'node:fs'
import { type Context, Hono } from 'hono'
import type { Alert } from '../daemon/notify/health.ts'
import { printable } from '../words/text.ts'
import type { Fields } from './commands.ts'
import {
  HEADERS,
  hasKey,
  isAskedByOthers,
  isEqual,
  isForwarded,
  isOwnHost,
  isOwnOrigin,
  isOwnUser,
  readOrMakeKey,
} from './guard.ts'
import type { Thumbnail } from './thumbnails.ts'
import { lockedDocument } from './view/document.ts'

export interface Sources {
  /** Proves that a form was sent by this page. */
  readonly token: string
  document(): string
  now(): object
  /** The thumbnail of an image. `image`: the image's id in the records. Null: it can't be shown, or is not made yet. */
  thumbnail(image: number): Promise<Thumbnail | null>
  metrics(): Promise<{ type: string; text: string }>
  alerts(): Alert[]
  /** Queues the command that a form asks for. False: the page has no such form. */
  askFor(command: string, fields: Fields): boolean
  failed(error: Error): void
}

const LARGEST_FORM = 64 * 1024

/** What keeps the page closed to people whom albumd can't recognize by their connection: a key, and the file that holds it. */
export interface Lock {
  key: string
  keyFile: string
}

/** The status page. `lock`: null on a socket that only the user of this albumd, and root, can connect to. */
export function pageApp(sources: Sources, lock: Lock | null): Hono {
  const isUser = (context: Context) =>
    lock === null || (isOwnUser(context) && !isForwarded(context)) || hasKey(context.req.raw, lock.key)
  const { style, script } = readAssets()
  const app = new Hono()
  app.use(async (context, next) => {
    if (lock !== null && !isOwnHost(context.req.header('host')))
      return refused(context, 421, 'This page is reached by an address such as 127.0.0.1, or by localhost.')
    await next()
    for (const [name, value] of Object.entries(HEADERS))
      if (!context.res.headers.has(name)) context.header(name, value)
    return undefined
  })

  // `/healthz` and `/metrics` need no key, but only whoever has shown the key gets answers that name files.
  app.get('/healthz', context => {
    const alerts = sources.alerts()
    if (alerts.length === 0) return context.text('ok\n')
    // The messages name files, so only a user who may see the page gets them.
    const shown = ({ code, message }: Alert) => `${code}: ${printable(message)}\n`
    const lines = alerts.map(isUser(context) ? shown : ({ code }) => `${code}\n`)
    return context.text(lines.join(''), 503)
  })
  app.get('/metrics', async context => {
    const { type, text } = await sources.metrics()
    return context.body(text, 200, { 'content-type': type })
  })
  app.get('/style.css', context => asset(context, style, 'text/css'))
  app.get('/script.js', context => asset(context, script, 'text/javascript'))
  app.get('/favicon.ico', context => context.body(null, 204))

  app.use(async (context, next) => {
    if (isAskedByOthers(context.req.header('sec-fetch-site'), context.req.header('sec-fetch-mode')))
      return refused(context, 403, 'Another site may not ask for this.')
    if (isUser(context)) return next()
    // Writes the key again, because the disk may have been full when the key was made.
    if (lock) readOrMakeKey(lock.keyFile, () => lock.key)
    // A browser asks for a password before it shows the answer. So this page first says where the password is.
    if (lock && context.req.path === '/' && !context.req.header('authorization'))
      return context.html(lockedDocument(lock.keyFile), 403)
    context.header('www-authenticate', 'Basic realm="albumd", charset="UTF-8"')
    return refused(
      context,
      401,
      'This is the page of the user who runs albumd. It opens by itself for that user on this machine. ' +
        `Others need the key for a password; the user, and root, find it in ${lock?.keyFile}.`,
    )
  })

  app.get('/', context => context.html(sources.document()))
  app.get('/enter', context => context.redirect('/', 303))
  app.get('/now', context => context.json(sources.now()))
  app.get('/thumbnails/:image{[0-9]{1,15}}', async context => {
    const shown = await sources.thumbnail(Number(context.req.param('image')))
    if (shown === null) return context.body(null, 204)
    return context.body(shown.bytes, 200, {
      'content-type': shown.mime,
      'cache-control': 'private, max-age=3600',
      // Keeps a picture that is opened in a tab of its own from loading or running anything.
      'content-security-policy': "default-src 'none'; sandbox",
    })
  })
  app.post('/commands/:command{[a-z]+}', async context => {
    if (!isOwnOrigin(context.req.header('origin'), context.req.header('host')))
      return refused(context, 403, 'Only this page itself may ask for that.')
    // Browsers send the length of a form. Node reads no more of a body than this header says.
    const length = Number(context.req.header('content-length') ?? Number.NaN)
    if (!(length <= LARGEST_FORM))
      return refused(context, 413, 'That is no form of this page, or too large for one.')
    const fields = (await context.req.parseBody()) as Fields
    if (typeof fields.token !== 'string' || !isEqual(fields.token, sources.token))
      return refused(context, 403, 'albumd was started again since this page was loaded. Load it again.')
    if (!sources.askFor(context.req.param('command'), fields))
      return refused(context, 400, 'This page has no such form.')
    return context.redirect('/', 303)
  })
  app.notFound(context => refused(context, 404, 'There is nothing here.'))
  app.onError((error, context) => {
    sources.failed(error)
    return refused(context, 500, 'albumd can not show this now; its log says why.')
  })
  return app
}

function asset(context: Context, text: string, type: string): Response {
  return context.body(text, 200, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' })
}

function refused(context: Context, status: 400 | 401 | 403 | 404 | 413 | 421 | 500, why: string): Response {
  return context.text(`${why}\n`, status, HEADERS)
}

function readAssets(): { style: string; script: string } {
  // `../page` is right for this file in src/page, and for the built code in dist/cli beside dist/page.
  const read = (name: string) => readFileSync(new URL(`../page/assets/${name}`, import.meta.url), 'utf8')
  return { style: read('style.css'), script: read('script.js') }
}
