import { expect, test } from 'vitest'
import { bytesOf, clientOf, never, sha256 } from './client-of.ts'
import { deadOrigin, serve } from './serve.ts'

const SIZE = 6_000_000

test('a delivered picture is told by its hash and size, and asked for without the key', async () => {
  const origin = await serve((request, response) => {
    expect(request.headers['x-api-key']).toBeUndefined()
    response.end(bytesOf(SIZE))
  })
  const delivered = await clientOf(origin).fetchDelivered(`${origin}/i/1`, SIZE, never)
  expect(delivered).toMatchObject({ ok: true, status: 200, size: SIZE })
  expect(delivered.ok && delivered.sha256.toString('hex')).toBe(sha256(bytesOf(SIZE)))
})

test('what is not there, and a redirect, are told by their status', async () => {
  const origin = await serve((request, response) => {
    response.writeHead(request.url === '/gone' ? 404 : 302, { location: '/elsewhere' }).end()
  })
  const host = clientOf(origin)
  expect(await host.fetchDelivered(`${origin}/gone`, 10, never)).toMatchObject({ ok: true, status: 404 })
  expect(await host.fetchDelivered(`${origin}/moved`, 10, never)).toMatchObject({ ok: true, status: 302 })
})

test('more than was asked for is cut off', async () => {
  const origin = await serve((_, response) => response.end(bytesOf(SIZE)))
  const cut = await clientOf(origin).fetchDelivered(`${origin}/i/1`, SIZE - 1, never)
  expect(cut).toMatchObject({ ok: false, code: 'HOST_ANSWER' })
})

test('no address is asked that is not of HTTPS or, for a host on this machine, of this machine', async () => {
  const host = clientOf('http://127.0.0.1:1')
  expect(await host.fetchDelivered('http://images.example.com/i/1', 10, never)).toMatchObject({
    code: 'HOST_ADDRESS',
  })
  expect(await host.fetchDelivered('file:///etc/passwd', 10, never)).toMatchObject({ code: 'HOST_ADDRESS' })
})

test('an address that does not answer says nothing', async () => {
  const origin = await deadOrigin()
  const silent = await clientOf(origin).fetchDelivered(`${origin}/i/1`, 10, never)
  expect(silent).toMatchObject({ ok: false, code: 'HOST_UNREACHABLE' })
})
