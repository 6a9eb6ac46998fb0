import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { DELIVERY_PATH, VERSION_PATH } from '../../../src/protocol/endpoints.ts'

/** A host that delivers other bytes than it was sent: all of it passes the proxy, whose addresses stand in the answers in the
 * place of the host's. Returns its {base_url}. */
export async function startAlteringProxy(
  hostBaseUrl: string,
  alter: (picture: Buffer) => Buffer | Promise<Buffer>,
): Promise<string> {
  const upstream = new URL(hostBaseUrl).origin
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const {
      host: _,
      connection: __,
      'transfer-encoding': ___,
      'content-length': ____,
      ...headers
    } = request.headers
    const answer = await fetch(upstream + request.url!, {
      method: request.method!,
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const body = Buffer.from(await answer.arrayBuffer())
    const isPicture = request.url!.startsWith(DELIVERY_PATH) && answer.ok
    const text = () => Buffer.from(body.toString().replaceAll(upstream, origin))
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(isPicture ? await alter(body) : text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return origin + VERSION_PATH
}
