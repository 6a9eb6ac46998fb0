import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Config } from '../config/schema.ts'
import type { DaemonTold } from '../daemon/report/status.ts'
import { stateFiles } from '../daemon/state/claim.ts'
import type { PageUrl } from './page-server.ts'
import type { UnderWay, UploadRate } from './under-way.ts'

export interface PageNow extends DaemonTold {
  page: PageUrl
  /** Null: it was never on. */
  picgo_server: PageUrl | null
  uploading: UnderWay[]
  rate: UploadRate
}

/** A daemon that does not answer within so many milliseconds counts as one without a page. */
const WITHIN = 5000

export async function askPage(config: Config): Promise<PageNow | null> {
  const { page } = stateFiles(config.state_dir)
  // Without a socket, HTTP need not be loaded.
  if (!existsSync(page)) return null
  try {
    const signal = AbortSignal.timeout(WITHIN)
    const asked = request({ socketPath: page, path: '/now', agent: false, signal }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return answer.statusCode === 200 ? ((await json(answer)) as PageNow) : null
  } catch {
    return null
  }
}
