import type { IncomingMessage } from 'node:http'
import { isAbsolute } from 'node:path'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { NotPossible, Refused } from '../../daemon/commands/command.ts'
import type { CommandQueue } from '../../daemon/commands/queue.ts'
import type { Bus } from '../../daemon/events.ts'
import { type Incoming, pictureIn } from '../../daemon/intake/intake.ts'
import { isLoopback } from '../../protocol/endpoints.ts'
import { HEADERS, isEqual, isForwarded, isOwnHost, isOwnUser } from '../guard.ts'
import { pictureInClipboard } from './clipboard.ts'
import { putNow, type Taking } from './put-now.ts'
import { filesOf } from './upload-form.ts'

export const PICGO = { key: 'picgo_server.listen', what: "PicGo's interface" }

const LARGEST_LIST = 1024 * 1024

/** The body of a request. An empty list, or none, means the clipboard, as in PicGo. */
const listed = z.object({ list: z.array(z.string()).default([]) })

/** PicGo's local interface (PicGo 2.3 and later): `POST /upload` takes a list of paths as JSON, a form of files, or nothing for
 * the clipboard. `key`: opens it to people whom albumd can't recognize by their connection. */
export function picgoApp(queue: CommandQueue, bus: Pick<Bus, 'say' | 'note'>, key: string): Hono {
  const isUser = (context: Context) =>
    (isOwnUser(context) && !isForwarded(context)) || isEqual(context.req.query('key') ?? '', key)
  const app = new Hono()
  app.use(async (context, next) => {
    const { req } = context
    if (!isOwnHost(req.header('host'))) return refused(context, 421, 'Ask an address such as 127.0.0.1.')
    if (isFromSite(context)) return refused(context, 403, 'A page of a site may not ask for this.')
    if (!isUser(context))
      return refused(
        context,
        401,
        'This serves the user who runs albumd. Others add ?key= and the key of page.key in its state_dir.',
      )
    return next()
  })
  app.post('/heartbeat', context => context.json({ success: true, result: 'alive' }, 200, HEADERS))
  app.post('/upload', async context => {
    const { req } = context
    const { incoming } = context.env as { incoming: IncomingMessage }
    const putting = async (taking: Taking) => {
      bus.note({ event: 'asked_for', what: 'put' })
      return context.json(await putNow(queue, req.raw.signal, taking), 200, HEADERS)
    }
    const type = req.header('content-type')
    if (type?.startsWith('multipart/form-data')) return putting(take => filesOf(incoming, take))
    if (type !== undefined && !isJson(type))
      return refused(context, 415, 'Send the Content-Type application/json, or a form of files.')
    // The length must be told and small: Node reads no more of a body than its length says.
    const length = req.header('transfer-encoding') ? Number.NaN : Number(req.header('content-length') ?? 0)
    if (!(length <= LARGEST_LIST))
      return refused(context, 413, 'The list is too long, or its length is not said.')
    const body = listed.safeParse(parsed((await req.text()).trim() || '{}'))
    if (!body.success) return refused(context, 400, 'The body is {"list": [paths]}, or empty.')
    const { list } = body.data
    if (list.length === 0) return putting(async take => [await take('clipboard', pictureInClipboard)])
    return putting(async take => {
      const taken = []
      for (const path of list) taken.push(await take(path, () => pictureAt(path)))
      return taken
    })
  })
  app.notFound(context => refused(context, 404, 'There is POST /upload, and POST /heartbeat.'))
  app.onError((error, context) => {
    if (!(error instanceof Refused)) bus.say(`picgo_server: ${error.message}`)
    return refused(context, error instanceof Refused ? 200 : 500, error.message)
  })
  return app
}

/** Whether a page of a site asks. Browsers send these headers with each POST, and no site can forge them. The window of an
 * editor has an origin of its own kind, such as app://obsidian.md. SiYuan's is a page of this machine that may ask anybody, so
 * it names no Origin, and sends JSON. From a browser no such page gets so far: a browser asks before it sends JSON elsewhere. */
function isFromSite({ req }: Context): boolean {
  const origin = req.header('origin')
  const from = URL.parse(origin ?? '')
  const fetchSite = req.header('sec-fetch-site') ?? 'none'
  const isHere = origin === undefined ? fetchSite === 'same-site' : from !== null && isLoopback(from)
  if (isHere) return !isJson(req.header('content-type'))
  return origin === undefined ? fetchSite !== 'none' : from === null || /^https?:$/.test(from.protocol)
}

function isJson(type = ''): boolean {
  return /^application\/json\s*(;|$)/i.test(type)
}

/** The picture at a path. Throws NotPossible for an address, because albumd fetches none. */
function pictureAt(path: string): Incoming {
  if (isAbsolute(path)) return pictureIn(path)
  throw new NotPossible(URL.canParse(path) ? 'albumd fetches no addresses' : 'not the whole path of a file')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function refused(
  context: Context,
  status: 200 | 400 | 401 | 403 | 404 | 413 | 415 | 421 | 500,
  message: string,
): Response {
  return context.json({ success: false, message, result: [] }, status, HEADERS)
}
