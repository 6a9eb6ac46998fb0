import { createServer, type IncomingMessage } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkReach } from '../../../src/daemon/doctor/host.ts'
import { parseAddress } from '../../../src/remote/http/address.ts'
import { Http } from '../../../src/remote/http/http.ts'
import { API_KEY, bytesOf, clientOf, failureOf, inMemory, never, successOf, TOKEN } from '../client-of.ts'
import { bodyOf, deadOrigin, json, serve, serveRaw } from '../serve.ts'

/** No name server knows it, so who reaches it does so by the proxy. */
const NAME = 'images.albumd-test.invalid'
const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

function inEnvironment(variables: Record<string, string>): void {
  for (const name of PROXY_VARIABLES) vi.stubEnv(name, variables[name])
  onTestFinished(() => void vi.unstubAllEnvs())
}

/** A host by that name, and what it was asked. */
async function host() {
  const { private: key, cert } = await generate([{ name: 'commonName', value: NAME }], {
    algorithm: 'sha256',
    keyType: 'ec',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: NAME }] },
    ],
  })
  const asked: IncomingMessage[] = []
  const bodies: Buffer[] = []
  const served = await serve(
    async (request, response) => {
      asked.push(request)
      bodies.push(await bodyOf(request))
      json(response, 200, {
        success: true,
        message: 'deleted',
        image_id: 'I',
        cdn_url: 'https://c.example/I',
      })
    },
    { key, cert },
  )
  const { port } = new URL(served)
  return { origin: `https://${NAME}:${port}`, port: Number(port), ca: cert, asked, bodies }
}

/** A real proxy, and every byte that it saw from us. `status`: what it answers. */
async function proxy(status = 200) {
  const connects: string[] = []
  const seen: Buffer[] = []
  const server = createServer((request, response) => {
    connects.push(`${request.method} ${request.url}`)
    response.end()
  })
  server.on('connect', (request, client: net.Socket, head) => {
    connects.push(`CONNECT ${request.url}`)
    seen.push(Buffer.from(request.rawHeaders.join('\n')))
    client.on('error', () => {})
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const upstream = net.connect(Number(request.url!.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      client.pipe(upstream).pipe(client)
      client.on('data', bytes => seen.push(bytes))
    })
    upstream.on('error', () => client.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connects, seen }
}

test.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY'])(
  'a host is reached by the proxy that %s names, which sees neither key nor picture',
  async variable => {
    const [far, way] = [await host(), await proxy()]
    // As curl takes it, too.
    inEnvironment({ [variable]: variable === 'https_proxy' ? new URL(way.address).host : way.address })
    const client = clientOf(far.origin, { ca: far.ca })
    await successOf(client.deleteImage('x', never))
    const credential = { uploadUrl: `${far.origin}/up/${TOKEN}`, cdnUrl: null, imageId: null }
    const picture = bytesOf(100_000)
    expect(await client.send(credential, inMemory(picture), never)).toMatchObject({ ok: true })
    expect(way.connects).toEqual(Array(2).fill(`CONNECT ${NAME}:${far.port}`))
    expect(far.asked[0]!.headers['x-api-key']).toBe(API_KEY)
    expect(far.bodies[1]!.includes(picture)).toBe(true)
    const seen = Buffer.concat(way.seen)
    expect(seen.length).toBeGreaterThan(100_000)
    for (const secret of [API_KEY, TOKEN, picture.subarray(0, 64)]) expect(seen.includes(secret)).toBe(false)
  },
)

test('the doctor says which way is taken, and whether the certificate is trusted', async () => {
  const [far, way] = [await host(), await proxy()]
  inEnvironment({ HTTPS_PROXY: way.address })
  const findings = await checkReach(far.origin, far.ca, 5000, never)
  const { host: named } = new URL(way.address)
  expect(findings).toMatchObject([
    { check: 'tls', status: 'pass' },
    { check: 'host', status: 'pass', message: expect.stringContaining(named) },
    { check: 'clock' },
  ])
  expect(await checkReach(far.origin, null, 5000, never)).toMatchObject([{ check: 'tls', status: 'fail' }])
})

test('no proxy is asked for a loopback address, or for what NO_PROXY names', async () => {
  const [far, way] = [await host(), await proxy()]
  inEnvironment({ HTTPS_PROXY: way.address, HTTP_PROXY: way.address, NO_PROXY: '.albumd-test.invalid' })
  expect(await failureOf(clientOf(far.origin, { ca: far.ca }).deleteImage('x', never))).toMatchObject({
    code: 'HOST_UNREACHABLE',
  })
  const near = await serve((_, response) => json(response, 200, { success: true, message: 'deleted' }))
  await successOf(clientOf(near).deleteImage('x', never))
  expect(way.connects).toEqual([])
})

test.each([
  ['lets nobody through', 'UND_ERR_ABORTED', async () => (await proxy(407)).address],
  ['hangs up', 'UND_ERR_PRX_CONN', () => serveRaw(socket => socket.once('data', () => socket.destroy()))],
  ['has no address', 'ERR_INVALID_URL', async () => 'http://:none'],
  ['is not there', 'ECONNREFUSED', () => deadOrigin()],
])('by a proxy that %s the host is unreachable, and nothing has left', async (_, code, start) => {
  inEnvironment({ HTTPS_PROXY: await start() })
  const http = new Http({ timeoutMs: 5000 })
  onTestFinished(() => http.close())
  const address = parseAddress(`https://${NAME}`)!
  const request = { method: 'POST', address, headers: {}, body: bytesOf(10) } as const
  const result = await http.exchange(request, never)
  expect(result).toMatchObject({ kind: 'silence', left: 'nothing', code: 'HOST_UNREACHABLE' })
  expect((result as unknown as { message: string }).message).toContain(`"${code}"`)
})

test('closing ends what still waits for the proxy', async () => {
  const silent = net.createServer(socket => socket.on('error', () => {}))
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.close())
  inEnvironment({ HTTPS_PROXY: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` })
  const http = new Http({ timeoutMs: 60_000 })
  const connected = once(silent)
  const answer = http.exchange(
    { method: 'GET', address: parseAddress(`https://${NAME}`)!, headers: {} },
    never,
  )
  await connected
  await http.close()
  expect(await answer).toMatchObject({ kind: 'silence', left: 'nothing' })
})

const once = (server: net.Server) => new Promise(resolve => server.once('connection', resolve))
