import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Hono } from 'hono'
import type { CommandQueue } from '../commands/queue.ts'
import type { Bus } from '../events.ts'
import { controlApp } from './app.ts'
import { serveApp } from './http-server.ts'
import { openSocketPath } from './socket.ts'

/** How long answers have to go out when the daemon ends, in milliseconds. */
const GRACE_MS = 300

export interface ControlServer {
  close(): Promise<void>
}

/** The daemon's control socket. Where there can be none, the daemon goes on without, and says so. */
export async function openControl(
  file: string,
  queue: CommandQueue,
  { say, note }: Bus,
): Promise<ControlServer> {
  try {
    return await serveControl(
      controlApp(queue, what => note({ event: 'asked_for', what })),
      file,
    )
  } catch (error) {
    say(`${file}: commands can't reach this daemon (${(error as Error).message})`)
    return { close: async () => {} }
  }
}

/**
 * Serves `app` on a Unix socket that only this user and root can connect to. The caller has locked the state, so a socket
 * that is there was left behind by an albumd that was killed, and is replaced. Rejects with Node's error.
 */
export async function serveControl(app: Hono, file: string): Promise<ControlServer> {
  const socket = openSocketPath(file)
  // No timeout, because a command may show nothing for hours.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 1 })
  const listen = () => {
    // Node creates the socket's file within `listen`, with the mode that the mask leaves.
    const mask = process.umask(0o177)
    try {
      server.listen(socket.path)
    } finally {
      process.umask(mask)
    }
  }
  try {
    rmSync(file, { force: true })
    const close = await serveApp(server, app, listen, GRACE_MS)
    return { close: () => close().finally(() => socket.release()) }
  } catch (error) {
    socket.release()
    throw error
  }
}
