import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { png, svg } from '../pictures.ts'
import { send, testHost } from './test-host.ts'

const picture = png()

async function delivered(method: 'GET' | 'HEAD') {
  const host = await testHost()
  const response = await fetch(host.deliveryUrl(await host.image(picture)), { method })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

const size = picture.bytes.byteLength

test('an image is delivered without a key, with its type and length', async () => {
  const { response, bytes } = await delivered('GET')
  expect(response.status).toBe(200)
  expect(bytes).toEqual(picture.bytes)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(size),
    'x-content-type-options': 'nosniff',
  })
})

test('HEAD answers what GET would, without the bytes', async () => {
  const { response, bytes } = await delivered('HEAD')
  expect([response.status, bytes.byteLength]).toEqual([200, 0])
  expect(response.headers.get('Content-Length')).toBe(String(size))
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
