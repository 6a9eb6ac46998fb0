import { once } from 'node:events'
import type { Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'

/**
 * Answers the requests to `server` with `app`. `listen` has the server listen somewhere. Rejects with Node's error, such
 * as EADDRINUSE. Answers a function that closes the server: answers under way have `graceMs` milliseconds to go out.
 */
export async function serveApp(
  server: Server,
  app: Hono,
  listen: () => void,
  graceMs: number,
): Promise<() => Promise<void>> {
  const listener = getRequestListener(app.fetch, {
    // Otherwise the adapter replaces the Request and Response of the whole process with its own.
    overrideGlobalObjects: false,
    // The app answers its own errors. Only a request whose Host and path make no URL comes here.
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
