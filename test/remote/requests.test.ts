import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import type { RemoteOptions } from '../../src/remote/client.ts'
import { API_KEY, bytesOf, clientOf, failureOf, inMemory, never, successOf, TOKEN } from './client-of.ts'
import { bodyOf, json, serve } from './serve.ts'

interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

/** A host that gives every request the same answer, and the requests that it got. */
async function hostAnswering(status: number, body: unknown, options: Partial<RemoteOptions> = {}) {
  const seen: Seen[] = []
  const origin = await serve(async (request, response) => {
    const { method, url, headers } = request
    seen.push({ method: method!, url: url!, headers, body: (await bodyOf(request)).toString() })
    json(response, status, body)
  })
  return { seen, origin, host: clientOf(origin, options) }
}

const urls = (seen: Seen[]) => seen.map(({ method, url }) => `${method} ${url}`)

const pictureRequest = { file_name: 'a b.png', file_size: 12, mime_type: 'image/png', width: 3, height: 4 }

test('a credential is asked for as §4.1 says, with the API key in its header', async () => {
  const data = { upload_url: `https://n.example/up/${TOKEN}`, cdn_url: 'https://c.example/i/1', more: true }
  const { seen, host } = await hostAnswering(200, { success: true, data })
  const credential = await successOf(host.requestUpload({ ...pictureRequest, album_id: 'A' }, never))
  expect(credential).toEqual({ uploadUrl: data.upload_url, cdnUrl: data.cdn_url, imageId: null })
  const hostName = expect.stringMatching(/^127/)
  const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json', host: hostName }
  expect(seen).toMatchObject([{ method: 'POST', url: '/api/v1/upload', headers }])
  expect(JSON.parse(seen[0]!.body)).toEqual({ ...pictureRequest, album_id: 'A' })
})

test('the presign form asks the site as §4.3 says, and puts the token into the upload address', async () => {
  const answer = { upload_token: `${TOKEN}/+`, upload_url: 'https://n.example/up', image_id: 'I' }
  const { seen, host } = await hostAnswering(200, answer, { uploadForm: 'presign' })
  const credential = await successOf(host.requestUpload(pictureRequest, never))
  const uploadUrl = `https://n.example/up?token=${TOKEN}%2F%2B`
  expect(credential).toEqual({ uploadUrl, cdnUrl: null, imageId: 'I' })
  expect(seen).toMatchObject([{ method: 'POST', url: '/api/presign', headers: { 'x-api-key': API_KEY } }])
  expect(JSON.parse(seen[0]!.body)).toEqual({ file_name: 'a b.png', file_size: 12, mime_type: 'image/png' })
})

test('the presign token is added to a query of the upload address', async () => {
  const answer = { upload_token: 'T', upload_url: 'https://n.example/up?a=1', image_id: 'I' }
  const { host } = await hostAnswering(200, answer, { uploadForm: 'presign' })
  const { uploadUrl } = await successOf(host.requestUpload(pictureRequest, never))
  expect(uploadUrl).toBe('https://n.example/up?a=1&token=T')
})

test('a refusal of the presign form may carry no success, as its answer does not', async () => {
  const refusal = { error: 'Too large.', code: 'FILE_TOO_LARGE' }
  const { host } = await hostAnswering(400, refusal, { uploadForm: 'presign' })
  const failure = await failureOf(host.requestUpload(pictureRequest, never))
  expect(failure).toMatchObject({ remedy: 'change_picture', code: 'FILE_TOO_LARGE', message: 'Too large' })
})

test('with the presign form, a picture for an album is refused without asking the host', async () => {
  const { seen, host } = await hostAnswering(200, {}, { uploadForm: 'presign' })
  const failure = await failureOf(host.requestUpload({ ...pictureRequest, album_id: 'A' }, never))
  expect(failure).toMatchObject({ remedy: 'change_request', code: 'PRESIGN_ALBUM' })
  expect(seen).toEqual([])
})

const time = '2026-11-03T10:00:00+08:00'
const image = { id: 'i1', name: 'a.png', size: '1 KB', width: 1, height: 2, time }
const album = { id: 'a1', name: 'A', image_count: 0, sub_count: 0, created_at: '2026-11-03T10:00:00Z' }
const pagination = { total_pages: 1, total_images: 1 }
const page = { albums: [album], images: [image], pagination, cdn_base_url: 'https://c.example' }

test('a listing is asked for by album and page, and the root without an album', async () => {
  const { seen, host } = await hostAnswering(200, { success: true, data: page })
  const listed = await successOf(host.list('a/b&c=1', 3, never))
  expect(listed).toEqual({ ...page, cdn_base_url: 'https://c.example/' })
  await successOf(host.list(null, 1, never))
  expect(urls(seen)).toEqual(['GET /api/v1/list?album_id=a%2Fb%26c%3D1&page=3', 'GET /api/v1/list?page=1'])
  expect(seen[0]!.headers).toMatchObject({ 'x-api-key': API_KEY })
})

test('numbers may come as text, ids as numbers, and what is not used in any form or not at all', async () => {
  const odd = {
    albums: [{ ...album, id: 7, depth: 'top', image_count: '12', created_at: '2026-11-03T10:00:00+0800' }],
    images: [{ ...image, id: 9, width: '1', height: '2', time: 5 }],
    pagination: { page: 'one', total_pages: '3', total_images: '41' },
    cdn_base_url: '/cdn',
  }
  const { host, origin } = await hostAnswering(200, { success: true, data: odd })
  expect(await successOf(host.list(null, 1, never))).toMatchObject({
    cdn_base_url: `${origin}/cdn`,
    albums: [{ id: '7', image_count: 12, created_at: '2026-11-03T10:00:00+0800' }],
    images: [{ id: '9', width: 1, height: 2 }],
    pagination: { total_pages: 3, total_images: 41 },
  })
})

test('a listing may have fields that §2 does not describe', async () => {
  const odd = { ...image, id: 'svg', width: null }
  const { host } = await hostAnswering(200, { success: true, data: { ...page, images: [odd, image] } })
  const { images } = await successOf(host.list(null, 1, never))
  expect(images).toEqual([{ ...image, id: 'svg', width: undefined }, image])
})

test.each<[string, object, string]>([
  ['an image without an id', { images: [{ ...image, id: undefined }] }, 'images.0'],
  [
    'a count that is no number',
    { pagination: { ...pagination, total_images: '1e3' } },
    'pagination.total_images',
  ],
  ['albums that are no list', { albums: {} }, 'albums'],
  ['a negative count', { pagination: { ...pagination, total_pages: -1 } }, 'pagination.total_pages'],
])('a listing with %s is a fault of the host that names the field', async (_, odd, field) => {
  const { host } = await hostAnswering(200, { success: true, data: { ...page, ...odd } })
  const failure = await failureOf(host.list(null, 1, never))
  expect(failure).toMatchObject({ code: 'HOST_ANSWER', remedy: 'later', status: 200 })
  expect(failure.message).toContain(`data.${field}`)
})

test('an image and an album are deleted by id', async () => {
  const data = { deleted_albums: 1, deleted_images: 2 }
  const { seen, host } = await hostAnswering(200, { success: true, message: 'deleted', data })
  await successOf(host.deleteImage('a&b', never))
  await successOf(host.deleteAlbum('c d', never))
  expect(urls(seen)).toEqual(['DELETE /api/v1/delete?img=a%26b', 'DELETE /api/v1/delete?album=c+d'])
})

test('an album is created below its parent', async () => {
  const created = { id: 'a1', name: 'A', depth: 2, created_at: '2026-11-03T10:00:00Z' }
  const { seen, host } = await hostAnswering(200, { success: true, data: { album: created } })
  expect(await successOf(host.createAlbum({ name: 'A', parent_album: 'P' }, never))).toEqual({ id: 'a1' })
  expect(seen[0]).toMatchObject({ method: 'POST', url: '/api/v1/create_album' })
  expect(JSON.parse(seen[0]!.body)).toEqual({ name: 'A', parent_album: 'P' })
})

test("a failure has the host's code, status and message", async () => {
  const [code, message] = ['NOT_FOUND', 'no such image']
  const { host } = await hostAnswering(404, { success: false, error: message, code })
  const failure = await failureOf(host.deleteImage('x', never))
  expect(failure).toEqual({ remedy: 'gone', endpoint: 'delete', code, message, status: 404 })
})

test('an API key that the host repeats in its error is taken out', async () => {
  const error = `bad key ${API_KEY}\nsecond line`
  const { host } = await hostAnswering(401, { success: false, error, code: 'INVALID_API_KEY' })
  expect((await failureOf(host.list(null, 1, never))).message).toBe('bad key *** second line')
})

test.each([
  ['/node/a"b\\..?t=1', '/node/a"b\\..?t=1'],
  ['//HOST/node?t=1', '/node?t=1'],
  ['node/7?t=1', '/api/v1/node/7?t=1'],
  ['../node?t=1', '/api/node?t=1'],
  ['?t=1', '/api/v1/upload?t=1'],
])('a picture is sent to the upload address %s', async (told, path) => {
  const seen: string[] = []
  const origin: string = await serve(async (request, response) => {
    await bodyOf(request)
    const upload_url = told.replace('HOST', new URL(origin).host)
    if (seen.push(request.url!) === 1) json(response, 200, { success: true, data: { upload_url } })
    else json(response, 200, { success: true, image_id: 'I' })
  })
  const host = clientOf(origin)
  const credential = await successOf(host.requestUpload(pictureRequest, never))
  expect(credential.uploadUrl).toBe(origin + path)
  expect(await host.send(credential, inMemory(bytesOf(10)), never)).toMatchObject({ ok: true })
  expect(seen).toEqual(['/api/v1/upload', path])
})

const notHttps = ['//n.example/up#x', 'file:up', '/up#x', 'http://n.example/up', 'https://n.example/up#x']

test.each([
  ...notHttps.map(address => ['upload_url', address] as const),
  ['cdn_url', 'http://c.example/1'],
  ['cdn_url', 'file:///etc/passwd'],
] as const)('an address that is not of HTTPS is refused: %s %s', async (field, address) => {
  const data = { upload_url: 'https://n.example/up', cdn_url: 'https://c.example/1', [field]: address }
  const { host } = await hostAnswering(200, { success: true, data })
  const failure = await failureOf(host.requestUpload(pictureRequest, never))
  expect(failure).toMatchObject({ code: 'HOST_ADDRESS', remedy: 'change_request' })
  expect(failure.message).toContain(field)
})

test('an API key or an address that no request can contain is refused at once, without showing it', () => {
  const withKey = (apiKey: string) => () => clientOf('http://127.0.0.1:1', { apiKey })
  expect(withKey('two\nlines')).toThrow(/^the API key/)
  expect(withKey('')).toThrow(/^the API key/)
  expect(() => clientOf('http://images.example.com')).toThrow(/HTTPS/)
})

test('an endpoint outside the plan is not asked twice', async () => {
  const { seen, host } = await hostAnswering(403, { success: false, error: 'no', code: 'PLAN_NOT_SUPPORTED' })
  await failureOf(host.deleteImage('x', never))
  await failureOf(host.deleteImage('y', never))
  expect(seen).toHaveLength(1)
  expect(host.blocks()).toMatchObject([{ endpoint: 'delete', code: 'PLAN_NOT_SUPPORTED' }])
  host.unblock('delete')
  await failureOf(host.deleteImage('z', never))
  expect(seen).toHaveLength(2)
})
