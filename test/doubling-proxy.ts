import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ask, bodyOf, serve } from './remote/serve.ts'

export interface DoublingProxy {
  origin: string
  /** How often a request found the answer to the one before it. */
  shifted: number
}

/** A real proxy before the host at `upstream` that answers twice: the answer to a request for which `twice` says so comes
 * once more when the next request has come on the same connection. Addresses in the host's answers lead through it too. */
export async function startDoublingProxy(
  upstream: string,
  twice: (request: { method: string; url: string }) => boolean,
): Promise<DoublingProxy> {
  const copies = new WeakMap<Socket, Buffer>()
  const origin: string = await serve((request, response) => {
    answer(request, response).catch(() => void response.destroy())
  })
  const proxy: DoublingProxy = { origin, shifted: 0 }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request
    const sent = await bodyOf(request)
    const copy = copies.get(socket)
    copies.delete(socket)
    if (copy) {
      proxy.shifted++
      socket.write(copy)
    }
    const { status, type, body } = await answerTo(request, sent)
    response.writeHead(status, { 'content-type': type, 'content-length': body.length }).end(body)
    const head = `HTTP/1.1 ${status} -\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`
    if (twice({ method: request.method!, url: request.url! }))
      copies.set(socket, Buffer.concat([Buffer.from(head), body]))
  }

  async function answerTo(request: IncomingMessage, sent: Buffer) {
    const answer = await ask(upstream, request, sent)
    const type = answer.headers['content-type'] ?? ''
    const whole = await bodyOf(answer)
    const body = type.startsWith('application/json')
      ? Buffer.from(whole.toString().replaceAll(upstream, origin))
      : whole
    return { status: answer.statusCode!, type, body }
  }
  return proxy
}
