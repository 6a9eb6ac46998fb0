import { expect, test } from 'vitest'
import type { ImageHost } from '../../src/remote/host.ts'
import { startDoublingProxy } from '../doubling-proxy.ts'
import { clientOf, never, successOf } from './client-of.ts'
import { bytesOf, inMemory } from './pictures.ts'
import { bodyOf, failure, type Handler, json, serve } from './serve.ts'

/** A client of a host behind a proxy that answers everything twice, the second time when the next request has left. */
async function behindDoubling(handler: Handler, options = {}): Promise<{ host: ImageHost; origin: string }> {
  const { origin } = await startDoublingProxy(await serve(handler), () => true)
  return { host: clientOf(origin, options), origin }
}

test('a picture is not taken for refused because the one before it was', async () => {
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

test('no picture gets the credential of another', async () => {
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
