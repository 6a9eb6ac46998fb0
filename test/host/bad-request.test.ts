import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, listen } from '../../src/host/embedded-host.ts'
import { failure } from '../../src/protocol/records.ts'
import { png } from '../pictures.ts'
import { type TestHost, testHost } from './test-host.ts'

function openSocket(host: TestHost): Socket {
  const { hostname, port } = new URL(host.running.siteUrl)
  const ca = host.running.caFile
  const at = { host: hostname, port: Number(port) }
  return ca ? connectTls({ ...at, ca: readFileSync(ca) }) : connect(at)
}

/** All that comes over a connection until it ends. */
async function heard(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  // A peer that has what it wants to say may cut off the rest.
  socket.on('error', () => {})
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

/** Status and code of the one answer to what is written as it stands. */
async function answerTo(host: TestHost, written: string): Promise<[number, string]> {
  const socket = openSocket(host)
  socket.write(written)
  return statusAndCode(await heard(socket))
}

function statusAndCode(answer: string): [number, string] {
  const [head, body] = answer.split('\r\n\r\n') as [string, string]
  expect(head.toLowerCase()).toContain(`content-length: ${body.length}`)
  return [Number(head.split(' ')[1]), failure.parse(JSON.parse(body)).code]
}

const CLOSE = 'Connection: close\r\n\r\n'

const NO_REQUESTS = [
  'nonsense\r\n\r\n',
  'GET /api/v1/list HTTP/1.1\r\nNo colon\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  `GET / HTTP/1.1\r\n${CLOSE}`,
  `GET / HTTP/1.1\r\nHost: a b\r\n${CLOSE}`,
  `GET http://[ HTTP/1.1\r\nHost: a\r\n${CLOSE}`,
]

test('what is no HTTP request is answered in the failure envelope', async () => {
  const host = await testHost()
  for (const written of NO_REQUESTS)
    expect(await answerTo(host, written), written.slice(0, 60)).toEqual([400, 'VALIDATION_ERROR'])
})

test('over TLS too', async () => {
  const host = await testHost({ tls: true })
  expect(await answerTo(host, 'nonsense\r\n\r\n')).toEqual([400, 'VALIDATION_ERROR'])
})

test('what follows a whole answer on its connection is answered, what breaks into one only ends it', async () => {
  const host = await testHost()
  const small = openSocket(host)
  small.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(small, 'data')
  small.write('nonsense\r\n\r\n')
  expect(statusAndCode(await heard(small))).toEqual([400, 'VALIDATION_ERROR'])

  const large = png(4000, 4000)
  const path = new URL(host.deliveryUrl(await host.image(large))).pathname
  const slow = openSocket(host)
  slow.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await once(slow, 'readable')
  slow.write('nonsense\r\n\r\n')
  const answer = await heard(slow)
  expect(answer).toMatch(/^HTTP\/1.1 200 /)
  expect(answer).not.toContain('VALIDATION_ERROR')
})

// The bound is for a server that never looks: Node itself does so every half minute.
test('a client that never ends its headers is told so and hung up on', { timeout: 10_000 }, async () => {
  const server = createServer(null, { headers: 100, request: 60_000 })
  onTestFinished(() => void server.close())
  const socket = connect(await listen(server, '127.0.0.1', 0), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nX-Slow: ')
  expect(statusAndCode(await heard(socket))).toEqual([400, 'VALIDATION_ERROR'])
})
