import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { ImageHost } from '../../../src/remote/host.ts'
import { startDoublingProxy } from '../../doubling-proxy.ts'
import { bytesOf, clientOf, inMemory, never, successOf } from '../client-of.ts'
import { bodyOf, failure, type Handler, json, serve, serveRaw } from '../serve.ts'

const TIME = '2026-01-01T00:00:00+08:00'

/** Answers each request after 40 ms and again after 60 ms, when the next request has been sent. */
function answeringTwice(answerTo: (method: string, path: string) => unknown): Promise<string> {
  return serveRaw((socket: Socket) => {
    let received = ''
    socket.on('data', bytes => {
      received += bytes.toString('latin1')
      const [head] = received.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? 0)
      if (received.length < head!.length + 4 + length) return
      received = ''
      const [method, path] = head!.split(' ')
      const body = JSON.stringify(answerTo(method!, path!))
      const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      setTimeout(() => socket.write(answer), 40)
      setTimeout(() => socket.write(answer), 60)
    })
  })
}

test('the second copy of a listing is not read as the listing of the next album', async () => {
  const origin = await answeringTwice((_, path) => {
    const album = new URLSearchParams(path.split('?')[1]).get('album_id')!
    return {
      success: true,
      data: {
        albums: [],
        images: [{ id: `in-${album}`, name: 'a.png', size: '1 KB', width: 1, height: 1, time: TIME }],
        pagination: { page: 1, per_page: 20, total_pages: 1, total_images: 1 },
        cdn_base_url: 'https://cdn.example',
      },
    }
  })
  const client = clientOf(origin)
  for (const album of ['a', 'b', 'c']) {
    const page = await client.list(album, 1, never)
    expect(page).toMatchObject({ ok: true, value: { images: [{ id: `in-${album}` }] } })
  }
})

test('the second copy of the answer to a deletion is not read as the answer to the next deletion', async () => {
  const origin = await answeringTwice((_, path) =>
    path.includes('img=here')
      ? { success: true, message: 'deleted' }
      : { success: false, error: 'there is no such image', code: 'NOT_FOUND' },
  )
  const client = clientOf(origin)
  expect(await client.deleteImage('here', never)).toMatchObject({ ok: true })
  expect(await client.deleteImage('elsewhere', never)).toMatchObject({
    ok: false,
    failure: { remedy: 'gone' },
  })
})

test('the second copy of a new album is not read as the next new album', async () => {
  let made = 0
  const origin = await answeringTwice(() => {
    made++
    return { success: true, data: { album: { id: `album-${made}`, name: 'A', depth: 1, created_at: TIME } } }
  })
  const client = clientOf(origin)
  for (const id of ['album-1', 'album-2'])
    expect(await client.createAlbum({ name: 'A' }, never)).toMatchObject({ ok: true, value: { id } })
})

/** A client of a host behind a proxy that sends each answer again when the next request has been sent. */
async function behindDoubling(handler: Handler, options = {}): Promise<{ host: ImageHost; origin: string }> {
  const { origin } = await startDoublingProxy(await serve(handler), () => true)
  return { host: clientOf(origin, options), origin }
}

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
