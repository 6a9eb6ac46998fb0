import { request } from 'node:http'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type DaemonProcess, startDaemon } from '../e2e/stage/process.ts'
import { type Stage, type StageOptions, setStage } from '../e2e/stage/stage.ts'
import { freePort } from '../free-port.ts'

/** A stage whose daemon has a status page. */
export interface PageStage extends Stage {
  /** Where the page is: the same after a restart. */
  url: string
  port: number
  socket: string
  /** Starts the daemon, and waits for its page. It is a process of its own where nothing else is said. */
  run(start?: (stage: Stage) => DaemonProcess | Promise<DaemonProcess>): Promise<DaemonProcess>
}

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** What is asked, and by which way. Node's fetch would set a Host of its own. */
export interface Question {
  port?: number
  socketPath?: string
  method?: string
  path?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

export async function setPageStage(options: StageOptions = {}): Promise<PageStage> {
  const port = await freePort()
  const status_page = { listen: `127.0.0.1:${port}` }
  const stage = await setStage({ ...options, config: { status_page, ...options.config } })
  const socket = join(stage.home, 'state/page.sock')
  return {
    ...stage,
    url: `http://127.0.0.1:${port}/`,
    port,
    socket,
    async run(start = startDaemon) {
      const daemon = await start(stage)
      await expect.poll(() => isThere(port)).toBe(true)
      return daemon
    },
  }
}

async function isThere(port: number): Promise<boolean> {
  return (await ask({ port, path: '/healthz' }).catch(() => null)) !== null
}

export function ask({ body, ...question }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', agent: false, ...question }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
