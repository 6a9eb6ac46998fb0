import { expect, test } from 'vitest'
import { bytesOf, clientOf, never, sha256 } from './client-of.ts'
import { deadOrigin, serve } from './serve.ts'

const SIZE = 6_000_000

test('a delivered picture gives its hash and size, and is asked for without the API key', async () => {
  const origin = await serve((request, response) => {
    expect(request.headers['x-api-key']).toBeUndefined()
    expect(request.headers['accept-encoding']).toBe('identity')
    response.end(bytesOf(SIZE))
  })
  const delivered = await clientOf(origin).fetchDelivered(`${origin}/i/1`, SIZE, never)
  expect(delivered).toMatchObject({ ok: true, status: 200, size: SIZE })
  expect(delivered.ok && delivered.sha256.toString('hex')).toBe(sha256(bytesOf(SIZE)))
})

test('a missing picture and a redirect give their status', async () => {
  const origin = await serve((request, response) => {
    response.writeHead(request.url === '/gone' ? 404 : 302, { location: '/elsewhere' }).end()
  })
  const host = clientOf(origin)
  expect(await host.fetchDelivered(`${origin}/gone`, 10, never)).toMatchObject({ ok: true, status: 404 })
  expect(await host.fetchDelivered(`${origin}/moved`, 10, never)).toMatchObject({ ok: true, status: 302 })
})

test('an answer with more bytes than allowed is cut off', async () => {
  const origin = await serve((_, response) => response.end(bytesOf(SIZE)))
  const cut = await clientOf(origin).fetchDelivered(`${origin}/i/1`, SIZE - 1, never)
  expect(cut).toMatchObject({ ok: false, code: 'HOST_ANSWER' })
})

test('only HTTPS addresses are asked, and loopback addresses when the host is a loopback address', async () => {
  const host = clientOf('http://127.0.0.1:1')
  expect(await host.fetchDelivered('http://images.example.com/i/1', 10, never)).toMatchObject({
    code: 'HOST_ADDRESS',
  })
  expect(await host.fetchDelivered('file:///etc/passwd', 10, never)).toMatchObject({ code: 'HOST_ADDRESS' })
})

test('an address that does not answer is unreachable, which proves nothing', async () => {
  const origin = await deadOrigin()
  const silent = await clientOf(origin).fetchDelivered(`${origin}/i/1`, 10, never)
  expect(silent).toMatchObject({ ok: false, code: 'HOST_UNREACHABLE' })
})
