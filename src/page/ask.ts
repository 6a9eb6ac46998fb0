import { json } from 'node:stream/consumers'
import type { Config } from '../config/schema.ts'
import { openSocketPath } from '../daemon/control/protocol.ts'
import { stateFiles } from '../daemon/state/claim.ts'
import type { PageUrl } from './listening.ts'
import type { UnderWay } from './under-way.ts'

// Not imported, for the reason that daemon/control/client.ts gives.
const { request } = process.getBuiltinModule('node:http')

/** What only the running daemon knows. */
export interface PageNow {
  page: PageUrl
  uploading: UnderWay[]
}

/** Milliseconds. A daemon that does not answer within this time counts as one without a page. */
const WITHIN = 5000

/** Asks the page's socket. Null: no daemon answers. */
export async function askPage(config: Config): Promise<PageNow | null> {
  try {
    const socket = openSocketPath(stateFiles(config.state_dir).page)
    try {
      return (await get(socket.path, '/now')) as PageNow
    } finally {
      socket.release()
    }
  } catch {
    return null
  }
}

function get(socketPath: string, path: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const asked = request({ socketPath, path, agent: false, signal: AbortSignal.timeout(WITHIN) }, answer => {
    if (answer.statusCode === 200) resolve(json(answer))
    else reject(new Error(`HTTP ${answer.statusCode}`))
  })
  asked.on('error', reject)
  asked.end()
  return promise
}
