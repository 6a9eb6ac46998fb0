import type { CommandQueue } from '../commands/queue.ts'
import type { Bus } from '../events.ts'
import { controlApp } from './app.ts'
import { type ControlServer, serveControl } from './server.ts'

/** The daemon's control socket. Where there can be none, the daemon works without, and says so. */
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
