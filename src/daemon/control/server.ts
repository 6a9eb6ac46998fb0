import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import { commandNamed } from '../commands/all.ts'
import type { Command, CommandOutput } from '../commands/command.ts'
import type { Asker, CommandQueue } from '../commands/queue.ts'
import type { Bus } from '../events.ts'
import { version } from '../package.ts'
import { asking, asRefusal, type Line, type Refusal } from './protocol.ts'

const GRACE_MS = 300

/** Opens the daemon's control socket. When that fails, it says why, and the daemon works without a socket. */
export async function openControl(file: string, queue: CommandQueue, { say, note }: Bus): Promise<Close> {
  try {
    const app = controlApp(queue, what => note({ event: 'asked_for', what }))
    return await serveControl(app, file)
  } catch (error) {
    say(`${file}: commands can't reach this daemon (${(error as Error).message})`)
    return async () => {}
  }
}

/** Serves `app` on a socket for this user and root. A socket that is there was left by a killed albumd. Rejects with Node's
 * error. */
export async function serveControl(app: Hono, file: string): Promise<Close> {
  // No timeout, because a command may show nothing for hours.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 1 })
  const listen = () => {
    // Node creates the socket's file within `listen`, with the mode that the mask leaves.
    const mask = process.umask(0o177)
    try {
      server.listen(file)
    } finally {
      process.umask(mask)
    }
  }
  rmSync(file, { force: true })
  return serveApp(server, app, listen, GRACE_MS)
}

export type Close = () => Promise<void>

/** Serves `app`. Returns a function that ends this within `graceMs`. `listen` may reject with Node's error. */
export async function serveApp(
  server: Server,
  app: Hono,
  listen: () => void,
  graceMs: number,
): Promise<Close> {
  const listener = getRequestListener(app.fetch, {
    // With `true`, Hono's adapter would replace the Request and Response of the whole process with its own.
    overrideGlobalObjects: false,
    // The app answers its own errors. Only a request whose Host and path make no URL gets this answer.
    errorHandler: () => new Response('That is no request.\n', { status: 400 }),
  })
  server.on('request', (incoming, outgoing) => void listener(incoming, outgoing))
  const listening = once(server, 'listening')
  listen()
  await listening
  return async () => {
    const closed = once(server, 'close')
    server.close()
    const cutOff = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed
    clearTimeout(cutOff)
  }
}

const LARGEST_REQUEST = 64 * 1024
/** The most bytes that wait for a client that does not read. After that its connection ends, because they fill the memory. */
const MOST_BYTES_AHEAD = 16 * 1024 * 1024

export function controlApp(queue: CommandQueue, onAsked: (what: string) => void): Hono {
  const app = new Hono()
  app.post('/commands/:name', bodyLimit({ maxSize: LARGEST_REQUEST }), async context => {
    const name = context.req.param('name')
    const command = commandNamed(name)
    const asked = asking.safeParse(await context.req.json().catch(() => null))
    const request = command?.request(z).safeParse(asked.data?.request)
    const refused = (code: string, message: string) => context.json<Refusal>({ code, message }, 400)
    if (asked.success && asked.data.version !== version)
      return refused(
        'OTHER_VERSION',
        `the albumd that runs is ${version}, this is ${asked.data.version}; stop the one that runs, and start this one`,
      )
    if (!command || !asked.success || !request?.success)
      return refused(
        'NOT_UNDERSTOOD',
        `the albumd that runs is ${version}, and does not know this command as it is`,
      )
    const asker = { config: asked.data.config, taken: () => onAsked(name) }
    const answer = answerTo(queue, command, request.data, asker)
    return new Response(answer, { headers: { 'content-type': 'application/x-ndjson' } })
  })
  return app
}

/** The answer to a command, line by line. A command that has begun goes on when its client disconnects. */
function answerTo(
  queue: CommandQueue,
  command: Command<unknown, unknown>,
  request: unknown,
  asker: Pick<Asker, 'config' | 'taken'>,
): ReadableStream {
  const lines = new PassThrough()
  const left = new AbortController()
  lines.on('close', () => left.abort()).on('error', () => {})
  const write = (line: Line) => {
    if (lines.writableLength > MOST_BYTES_AHEAD) lines.destroy(new Error('nobody reads'))
    if (!lines.destroyed) lines.write(`${JSON.stringify(line)}\n`)
  }
  const output: CommandOutput = {
    emit: emitted => {
      // This event is not sent: commands do not show it, and there may be one for each picture.
      if (emitted.event !== 'change_found') write({ told: emitted })
    },
    say: say => write({ say }),
    progress: (done, albums) => write({ progress: { done, albums } }),
  }
  queue
    .ask(command, request, { ...asker, output, left: left.signal, begun: () => write({ begun: true }) })
    .then(
      done => write({ done }),
      error => write({ failed: asRefusal(error) }),
    )
    .finally(() => lines.end())
  return Readable.toWeb(lines) as ReadableStream
}
