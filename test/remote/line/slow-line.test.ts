import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { ImageHost, Outcome, PictureBody, Sent } from '../../../src/remote/host.ts'
import { clientOf, never, successOf } from '../client-of.ts'
import { page, serveRaw } from '../serve.ts'

const MB = 2 ** 20
const LIFE_MS = 6000
/** Quick enough for the system's buffers: on loopback they take some megabytes at once, and free space by the megabyte. */
const RATE = 8 * MB
const answer = (body: unknown) => page('200 OK', JSON.stringify(body))

interface Seen {
  credentials: number
  /** The most pictures under way at once. */
  most: number
  /** Pictures whose last byte came after their credential had expired (§8). */
  late: number
  stored: number
}

/** A host behind a line that transports so many bytes a second, for all connections together. */
async function slowHost(bytesPerSecond: number): Promise<{ seen: Seen; host: ImageHost }> {
  const seen: Seen = { credentials: 0, most: 0, late: 0, stored: 0 }
  const granted = new Map<string, number>()
  const sending = new Set<Socket>()
  let freeAt = 0
  /** Stops reading the connection for as long as the line needs for these bytes. Returns the milliseconds. */
  const passLine = (socket: Socket, bytes: number) => {
    const now = performance.now()
    freeAt = Math.max(freeAt, now) + (bytes * 1000) / bytesPerSecond
    socket.pause()
    setTimeout(() => socket.resume(), freeAt - now)
    return freeAt - now
  }
  const grant = () => {
    const name = String(++seen.credentials)
    granted.set(name, performance.now())
    const data = { upload_url: `${origin}/up/${name}`, cdn_url: `${origin}/i/${name}` }
    return answer({ success: true, data })
  }
  const store = (path: string) => {
    if (performance.now() - granted.get(path.slice(4))! > LIFE_MS) seen.late++
    const id = `I${++seen.stored}`
    return answer({ success: true, image_id: id, cdn_url: `https://c.example/i/${id}` })
  }
  const origin: string = await serveRaw(socket => {
    socket.on('close', () => sending.delete(socket))
    let request: { path: string; left: number } | null = null
    socket.on('data', chunk => {
      const wait = passLine(socket, chunk.length)
      if (request) request.left -= chunk.length
      else request = beginningOf(chunk)
      const { path, left } = request
      const isPicture = path.startsWith('/up/')
      if (isPicture) seen.most = Math.max(seen.most, sending.add(socket).size)
      if (left > 0) return
      request = null
      setTimeout(() => {
        sending.delete(socket)
        socket.write(isPicture ? store(path) : grant())
      }, wait)
    })
  })
  return { seen, host: clientOf(origin, { credentialLifetimeMs: LIFE_MS }) }
}

/** The head of a request, which undici writes in one piece. */
function beginningOf(chunk: Buffer): { path: string; left: number } {
  const text = chunk.toString('latin1')
  const length = Number(/content-length: (\d+)/.exec(text)![1])
  return { path: text.split(' ')[1]!, left: length - (chunk.length - text.indexOf('\r\n\r\n') - 4) }
}

/** A large picture: one chunk over and over. */
function pictureOf(size: number): PictureBody {
  const chunk = Buffer.alloc(256 * 1024)
  return {
    fileName: 'a.jpg',
    mime: 'image/jpeg',
    size,
    async *chunks() {
      for (let at = 0; at < size; at += chunk.length) yield chunk.subarray(0, size - at)
    },
  }
}

async function upload(host: ImageHost, size: number): Promise<Outcome<Sent>> {
  const request = { file_name: 'a.jpg', file_size: size, mime_type: 'image/jpeg', width: 1, height: 1 }
  const granted = await host.requestUpload(request, never)
  return granted.ok ? host.send(granted.value, pictureOf(size), never) : granted
}

/** On a very busy machine the line seems slower than it is. */
const retry = 2

test('on a slow line uploads wait for each other before they ask for credentials, and none ends too late', {
  retry,
}, async () => {
  // All eight at once would take eight seconds, and a credential expires after six.
  const { seen, host } = await slowHost(RATE)
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => upload(host, 8 * MB)))
  expect(outcomes.map(({ ok }) => ok)).toEqual(Array(8).fill(true))
  expect(seen).toMatchObject({ credentials: 8, late: 0, stored: 8 })
  expect(seen.most).toBeLessThan(5)
})

test('a picture that outlasts its credential fails, and the next one like it without asking for a credential', {
  retry,
}, async () => {
  const { seen, host } = await slowHost(RATE)
  const outcome = await upload(host, 200 * MB)
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'TOO_SLOW', endpoint: 'send' } })
  expect(await upload(host, 201 * MB)).toMatchObject({
    ok: false,
    failure: { code: 'TOO_SLOW', remedy: 'faster_line', endpoint: 'upload' },
  })
  expect(seen).toMatchObject({ credentials: 1, stored: 0 })
  await successOf(upload(host, 1000))
})
