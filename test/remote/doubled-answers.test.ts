import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { clientOf, never } from './client-of.ts'
import { serveRaw } from './serve.ts'

const TIME = '2026-01-01T00:00:00+08:00'

/** Answers each request after a while, and once more when the next one has left. */
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

test('a listing that is answered twice is not taken for that of the next album', async () => {
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

test('a deletion that is answered twice deletes nothing else', async () => {
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

test('an album that is answered twice is not taken for the next one', async () => {
  let made = 0
  const origin = await answeringTwice(() => {
    made++
    return { success: true, data: { album: { id: `album-${made}`, name: 'A', depth: 1, created_at: TIME } } }
  })
  const client = clientOf(origin)
  for (const id of ['album-1', 'album-2'])
    expect(await client.createAlbum({ name: 'A' }, never)).toMatchObject({ ok: true, value: { id } })
})
