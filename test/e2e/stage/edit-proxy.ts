import { VERSION_PATH } from '../../../src/protocol/endpoints.ts'
import { bodyOf, json, passOn, serve } from '../../remote/serve.ts'

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
  const origin = await serve(async (request, response) => {
    const body = await bodyOf(request)
    const { pathname, searchParams: query } = new URL(request.url!, upstream)
    const asked: Asked = {
      method: request.method as Asked['method'],
      path: pathname.slice(VERSION_PATH.length),
      query,
      body: request.method === 'POST' ? JSON.parse(body.toString()) : undefined,
    }
    const refused = await edit(asked)
    if (refused) {
      const { status, code, retryAfter } = refused
      const wait: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` }
      return json(response, status, { success: false, error: 'This is not done here.', code }, wait)
    }
    const url = `${VERSION_PATH}${asked.path}${query.size > 0 ? `?${query}` : ''}`
    const edited = asked.body === undefined ? body : Buffer.from(JSON.stringify(asked.body))
    await passOn(upstream, { method: asked.method, url, headers: request.headers }, edited, response)
  })
  return origin + VERSION_PATH
}
