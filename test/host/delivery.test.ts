import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRange } from '../../src/host/http/delivery.ts'
import { failure } from '../../src/protocol/records.ts'
import { png, svg } from '../pictures.ts'
import { send, testHost } from './test-host.ts'

const picture = png()

async function delivered(headers: Record<string, string> = {}, method = 'GET') {
  const host = await testHost()
  const response = await fetch(host.deliveryUrl(await host.image(picture)), { method, headers })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

const size = picture.bytes.byteLength
const tag = `"${createHash('sha256').update(picture.bytes).digest('hex')}"`

test('an image is delivered without a key, with its type, length and a strong ETag', async () => {
  const { response, bytes } = await delivered()
  expect(response.status).toBe(200)
  expect(bytes).toEqual(picture.bytes)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(size),
    etag: tag,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
  })
})

test('HEAD answers what GET would, without the bytes', async () => {
  const { response, bytes } = await delivered({}, 'HEAD')
  expect([response.status, bytes.byteLength]).toEqual([200, 0])
  expect(response.headers.get('Content-Length')).toBe(String(size))
  expect(response.headers.get('ETag')).toBe(tag)
})

test('whoever has the bytes gets 304', async () => {
  for (const known of [tag, `"other", W/${tag}`, '*']) {
    const { response, bytes } = await delivered({ 'If-None-Match': known })
    expect([response.status, bytes.byteLength, response.headers.get('ETag')], known).toEqual([304, 0, tag])
  }
  expect((await delivered({ 'If-None-Match': '"other"' })).response.status).toBe(200)
})

test('a single range is delivered as 206', async () => {
  const { response, bytes } = await delivered({ Range: 'bytes=4-11' })
  expect(response.status).toBe(206)
  expect(bytes).toEqual(picture.bytes.subarray(4, 12))
  expect(response.headers.get('Content-Range')).toBe(`bytes 4-11/${size}`)
  expect(response.headers.get('Content-Length')).toBe('8')
})

test("a range outside the picture is INVALID_PARAMS with §7's status", async () => {
  const { response, bytes } = await delivered({ Range: `bytes=${size}-` })
  expect([response.status, response.headers.get('Content-Range')]).toEqual([400, `bytes */${size}`])
  expect(response.headers.get('Content-Length')).toBe(String(bytes.byteLength))
  expect(failure.parse(JSON.parse(bytes.toString())).code).toBe('INVALID_PARAMS')
})

test('a range of other bytes than are there is answered with the whole', async () => {
  expect((await delivered({ Range: 'bytes=0-1', 'If-Range': '"other"' })).response.status).toBe(200)
  expect((await delivered({ Range: 'bytes=0-1', 'If-Range': tag })).response.status).toBe(206)
})

test('ranges are read as RFC 9110 says', () => {
  expect(readRange('bytes=0-0', 10)).toEqual({ start: 0, end: 0 })
  expect(readRange('bytes=3-', 10)).toEqual({ start: 3, end: 9 })
  expect(readRange('bytes=3-99', 10)).toEqual({ start: 3, end: 9 })
  expect(readRange('bytes=-3', 10)).toEqual({ start: 7, end: 9 })
  expect(readRange('bytes=-99', 10)).toEqual({ start: 0, end: 9 })
  expect(readRange('bytes=-0', 10)).toBe('unsatisfiable')
  expect(readRange('bytes=10-12', 10)).toBe('unsatisfiable')
  for (const whole of [undefined, '', 'bytes=-', 'bytes=5-3', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=a-b'])
    expect(readRange(whole, 10), String(whole)).toBeNull()
})

test('a scripted SVG is delivered under a policy that lets nothing in it run', async () => {
  const host = await testHost()
  const scripted = svg(
    '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><script>alert(1)</script></svg>',
  )
  const response = await fetch(host.deliveryUrl(await host.image(scripted)))
  expect(response.headers.get('Content-Type')).toBe('image/svg+xml')
  const policy = response.headers.get('Content-Security-Policy')!.split('; ')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain('sandbox')
  expect(policy.filter(rule => rule.startsWith('script-src'))).toEqual([])
  expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
})

test('the delivered type is what the bytes are, whatever was declared', async () => {
  const host = await testHost()
  const url = await host.uploadUrl(picture, { mime_type: 'image/gif', file_name: 'page.svg' })
  const { json } = await send(url, picture.bytes, 'page.html')
  expect((await fetch(json.cdn_url)).headers.get('Content-Type')).toBe('image/png')
})

test('an address that stands for nothing is 404, whatever it is made of', async () => {
  const host = await testHost()
  const id = await host.image(picture)
  for (const path of ['/i/nothing', `/i/${id}x`, '/i/', '/i/..%2f..%2fhost.db', '/i/%00', `/i/${id}/`]) {
    const response = await fetch(host.running.cdnBaseUrl + path)
    expect([response.status, ((await response.json()) as { code: string }).code], path).toEqual([
      404,
      'NOT_FOUND',
    ])
  }
})

test('an image whose file somebody took away is 404', async () => {
  const host = await testHost()
  const id = await host.image(picture)
  const kept = join(host.data, 'pictures', 'kept')
  for (const shelf of readdirSync(kept)) rmSync(join(kept, shelf), { recursive: true })
  expect((await fetch(host.deliveryUrl(id))).status).toBe(404)
})
