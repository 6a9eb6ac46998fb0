import { createServer, type IncomingHttpHeaders, request as openRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { VERSION_PATH } from '../../../src/protocol/endpoints.ts'

/** A request below {base_url} on its way to the host. */
export interface Asked {
  method: 'GET' | 'POST' | 'DELETE'
  /** Below {base_url}, without the query. */
  path: string
  /** Undefined but with POST. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they send
  body: any
  query: URLSearchParams
}

/** What the proxy answers in the host's place. */
export interface Refused {
  status: number
  code: string
  /** Seconds. */
  retryAfter?: number
}

/** A host that differs from the embedded one: what is asked passes `edit`, which changes its body or its query, or refuses it.
 * Answers the other host's {base_url}. Upload nodes and delivery addresses stay where they are. */
export async function startEditProxy(
  hostBaseUrl: string,
  edit: (asked: Asked) => Refused | undefined | Promise<Refused | undefined>,
): Promise<string> {
  const upstream = new URL(hostBaseUrl).origin
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    let body: Buffer = Buffer.concat(chunks)
    const { method } = request
    let path = request.url!
    if (method === 'GET' || method === 'POST' || method === 'DELETE') {
      const asked: Asked = {
        method,
        path: path.slice(VERSION_PATH.length).replace(/\?.*/, ''),
        query: new URL(path, upstream).searchParams,
        body: method === 'POST' ? JSON.parse(body.toString()) : undefined,
      }
      const refused = await edit(asked)
      if (refused) {
        const { status, retryAfter } = refused
        const wait = retryAfter !== undefined && { 'retry-after': `${retryAfter}` }
        response.writeHead(status, { 'content-type': 'application/json', ...wait })
        response.end(JSON.stringify({ success: false, error: 'This is not done here.', code: refused.code }))
        return
      }
      const query = asked.query.toString()
      path = VERSION_PATH + asked.path + (query && `?${query}`)
      if (method === 'POST') body = Buffer.from(JSON.stringify(asked.body))
    }
    const { host, connection, ...rest } = request.headers
    const headers: IncomingHttpHeaders = { ...rest }
    if (body.length > 0) headers['content-length'] = String(body.length)
    const passed = openRequest(upstream + path, { method: request.method!, headers }, answer => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    passed.end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${VERSION_PATH}`
}
