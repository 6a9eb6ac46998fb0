import { DELIVERY_PATH, VERSION_PATH } from '../../../src/protocol/endpoints.ts'
import { ask, bodyOf, serve } from '../../remote/serve.ts'

/** A host that delivers other bytes than it was sent: all of it passes the proxy, whose addresses stand in the answers in the
 * place of the host's. Returns its {base_url}. */
export async function startAlteringProxy(
  hostBaseUrl: string,
  alter: (picture: Buffer) => Buffer | Promise<Buffer>,
): Promise<string> {
  const upstream = new URL(hostBaseUrl).origin
  const origin: string = await serve(async (request, response) => {
    const answer = await ask(upstream, request, await bodyOf(request))
    const body = await bodyOf(answer)
    const isPicture = request.url!.startsWith(DELIVERY_PATH) && answer.statusCode === 200
    response.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] ?? '' })
    response.end(isPicture ? await alter(body) : body.toString().replaceAll(upstream, origin))
  })
  return origin + VERSION_PATH
}
