import { request as askUpstream } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface DoublingProxy {
  origin: string
  /** How often a request found the answer to the one before it. */
  shifted: number
}

interface Request {
  method: string
  /** Path and query. */
  url: string
  headers: Record<string, string>
  body: Buffer
}

/** A real proxy before the host at `upstream` that answers twice: the answer to a request for which `twice` says so comes
 * once more when the next request has come on the same connection. Addresses in the host's answers lead through it too. */
export async function startDoublingProxy(
  upstream: string,
  twice: (request: Pick<Request, 'method' | 'url'>) => boolean,
): Promise<DoublingProxy> {
  const sockets = new Set<Socket>()
  const server = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    serve(socket).catch(() => void socket.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const proxy: DoublingProxy = { origin, shifted: 0 }

  async function serve(socket: Socket): Promise<void> {
    let copy: Buffer | null = null
    for await (const request of requestsOn(socket)) {
      if (copy) {
        proxy.shifted++
        socket.write(copy)
      }
      const answer = await answerTo(request)
      socket.write(answer)
      copy = twice(request) ? answer : null
    }
  }

  function answerTo({ method, url, headers, body }: Request): Promise<Buffer> {
    const { connection, host, ...rest } = headers
    return new Promise((resolve, reject) => {
      const asked = askUpstream(upstream + url, { method, headers: rest, agent: false })
      asked.on('error', reject)
      asked.on('response', async response => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        const type = response.headers['content-type'] ?? ''
        const whole = Buffer.concat(chunks)
        const given = type.startsWith('application/json')
          ? Buffer.from(whole.toString().replaceAll(upstream, origin))
          : whole
        const head = `HTTP/1.1 ${response.statusCode} -\r\ncontent-type: ${type}\r\ncontent-length: ${given.length}\r\n\r\n`
        resolve(Buffer.concat([Buffer.from(head), given]))
      })
      asked.end(body)
    })
  }
  return proxy
}

/** Whoever sends has declared each body's length. */
async function* requestsOn(socket: Socket): AsyncGenerator<Request> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end === -1) break
      const [line = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n')
      const headers = Object.fromEntries(
        fields.map(field => {
          const colon = field.indexOf(':')
          return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
        }),
      )
      const from = end + 4
      const length = Number(headers['content-length'] ?? 0)
      if (bytes.length < from + length) break
      const [method = '', url = ''] = line.split(' ')
      const body = bytes.subarray(from, from + length)
      bytes = bytes.subarray(from + length)
      yield { method, url, headers, body }
    }
  }
}
