import { expect, test } from 'vitest'
import type { ImageHost } from '../../../src/remote/host.ts'
import { startDoublingProxy } from '../../doubling-proxy.ts'
import { bytesOf, clientOf, inMemory, never, successOf } from '../client-of.ts'
import { bodyOf, failure, type Handler, json, serve } from '../serve.ts'

const TIME = '2026-01-01T00:00:00+08:00'

/** A client of a host behind a proxy that sends each answer again when the next request has been sent. */
async function behindDoubling(handler: Handler, options = {}): Promise<{ host: ImageHost; origin: string }> {
  const { origin } = await startDoublingProxy(await serve(handler), () => true)
  return { host: clientOf(origin, options), origin }
}

test('the second copy of a listing is not read as the listing of the next album', async () => {
  const { host } = await behindDoubling((request, response) => {
    const album = new URLSearchParams(request.url!.split('?')[1]).get('album_id')!
    json(response, 200, {
      success: true,
      data: {
        albums: [],
        images: [{ id: `in-${album}`, name: 'a.png', size: '1 KB', width: 1, height: 1, time: TIME }],
        pagination: { page: 1, per_page: 20, total_pages: 1, total_images: 1 },
        cdn_base_url: 'https://cdn.example',
      },
    })
  })
  for (const album of ['a', 'b', 'c']) {
    const page = await host.list(album, 1, never)
    expect(page).toMatchObject({ ok: true, value: { images: [{ id: `in-${album}` }] } })
  }
})

test('the second copy of the answer to a deletion is not read as the answer to the next deletion', async () => {
  const { host } = await behindDoubling((request, response) =>
    request.url!.includes('img=here')
      ? json(response, 200, { success: true, message: 'deleted' })
      : json(response, 200, { success: false, error: 'there is no such image', code: 'NOT_FOUND' }),
  )
  expect(await host.deleteImage('here', never)).toMatchObject({ ok: true })
  expect(await host.deleteImage('elsewhere', never)).toMatchObject({
    ok: false,
    failure: { remedy: 'gone' },
  })
})

test('the second copy of a new album is not read as the next new album', async () => {
  let made = 0
  const { host } = await behindDoubling((_, response) => {
    made++
    const album = { id: `album-${made}`, name: 'A', depth: 1, created_at: TIME }
    json(response, 200, { success: true, data: { album } })
  })
  for (const id of ['album-1', 'album-2'])
    expect(await host.createAlbum({ name: 'A' }, never)).toMatchObject({ ok: true, value: { id } })
})

test('the second copy of a refusal is not read as the answer to the next picture', async () => {
  const { host, origin } = await behindDoubling(async (request, response) => {
    await bodyOf(request)
    if (request.url === '/up/refused') failure(response, 400, 'UNREADABLE_DIMENSION')
    else json(response, 200, { success: true, image_id: 'I', cdn_url: 'https://c.example/i/I' })
  })
  const send = (name: string) =>
    host.send(
      { uploadUrl: `${origin}/up/${name}`, cdnUrl: null, imageId: null },
      inMemory(bytesOf(100)),
      never,
    )
  expect(await send('refused')).toMatchObject({ ok: false, failure: { code: 'UNREADABLE_DIMENSION' } })
  expect(await send('stored')).toMatchObject({ ok: true })
})

test('no picture gets the credential of another picture', async () => {
  let asked = 0
  const { host } = await behindDoubling(
    async (request, response) => {
      const { file_name } = JSON.parse((await bodyOf(request)).toString())
      const cdn_url = `https://c.example/i/${file_name}`
      const upload_url = `https://node.example/up/${++asked}/${file_name}`
      json(response, 200, { success: true, data: { upload_url, cdn_url } })
    },
    { patience: { attempts: 2, maxDelayMs: 0 } },
  )
  const request = { file_size: 1, mime_type: 'image/png', width: 1, height: 1 }
  for (const file_name of ['a', 'b', 'c', 'd'])
    expect(await successOf(host.requestUpload({ ...request, file_name }, never))).toMatchObject({
      cdnUrl: `https://c.example/i/${file_name}`,
    })
})
