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

test('a missing picture gives its status', async () => {
  const origin = await serve((_, response) => void response.writeHead(404).end())
  expect(await clientOf(origin).fetchDelivered(`${origin}/gone`, 10, never)).toMatchObject({ status: 404 })
})

test('redirects are followed three times, without the key, and only to an address that may be used', async () => {
  const urls: string[] = []
  const origin = await serve((request, response) => {
    expect(request.headers['x-api-key']).toBeUndefined()
    urls.push(request.url!)
    const left = Number(request.url!.slice(1))
    if (left === 0) return void response.end(bytesOf(9))
    const location = left === 9 ? 'http://images.example.com/i/1' : left % 2 ? `/${left - 1}` : `${left - 1}`
    response.writeHead(left % 2 ? 302 : 307, { location }).end('moved')
  })
  const get = (path: string) => clientOf(origin).fetchDelivered(`${origin}/${path}`, 9, never)
  const delivered = await get('3')
  expect(delivered).toMatchObject({ ok: true, status: 200, size: 9 })
  expect(delivered.ok && delivered.sha256.toString('hex')).toBe(sha256(bytesOf(9)))
  expect(urls).toEqual(['/3', '/2', '/1', '/0'])
  expect(await get('4')).toMatchObject({ ok: true, status: 302 })
  expect(await get('9')).toMatchObject({ ok: false, code: 'HOST_ADDRESS' })
})

test('of a header that came twice, the first counts', async () => {
  const origin = await serve((request, response) => {
    if (request.url === '/0') return void response.end(bytesOf(9))
    response.writeHead(301, ['location', '/0', 'location', '/1']).end()
  })
  expect(await clientOf(origin).fetchDelivered(`${origin}/1`, 9, never)).toMatchObject({ ok: true, size: 9 })
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
