import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { openSocketPath } from './socket.ts'

/** Milliseconds that answers have to go out when the daemon ends. */
const GRACE = 300

export interface ControlServer {
  close(): Promise<void>
}

/**
 * Serves `app` on a Unix socket for this user (and root) alone. The caller has the state's lock: a socket that is there
 * was left behind by an albumd that was killed. Rejects with Node's error.
 */
export async function serveControl(app: Hono, file: string): Promise<ControlServer> {
  const socket = openSocketPath(file)
  // What is long under way is silent for hours.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 1 })
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  server.on('request', (incoming, outgoing) => void listener(incoming, outgoing))
  try {
    rmSync(file, { force: true })
    await listen(server, socket.path)
  } catch (error) {
    socket.release()
    throw error
  }
  return {
    async close() {
      const closed = once(server, 'close')
      server.close()
      const cutOff = setTimeout(() => server.closeAllConnections(), GRACE)
      await closed
      clearTimeout(cutOff)
      socket.release()
    },
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const listening = once(server, 'listening')
  // The socket is made within this call, with the mode that the mask leaves.
  const mask = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(mask)
  }
  await listening
}
