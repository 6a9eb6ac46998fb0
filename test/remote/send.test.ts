import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { expect, test } from 'vitest'
import type { RemoteOptions } from '../../src/remote/client.ts'
import { isOutage } from '../../src/remote/failures.ts'
import { type Credential, type HostFailure, PictureChanged } from '../../src/remote/host.ts'
import { multipartOf } from '../../src/remote/uploads.ts'
import { resultOfRefusal } from '../../src/sync/uploads/upload-job.ts'
import {
  API_KEY,
  bytesOf,
  chunked,
  clientOf,
  failureOf,
  inMemory,
  inOnePiece,
  never,
  sha256,
  successOf,
  TOKEN,
} from './client-of.ts'
import { bodyOf, deadOrigin, failure, json, page, serve, serveRaw } from './serve.ts'

const stored = { success: true, image_id: 'I', cdn_url: 'https://c.example/i/I' }

const credentialAt = (origin: string, path = `/up/${TOKEN}`): Credential => ({
  uploadUrl: `${origin}${path}`,
  cdnUrl: null,
  imageId: null,
})

/** What comes of sending a picture to the upload node at `origin`. */
const refusalAt = (origin: string, picture = inMemory(bytesOf(10)), options: Partial<RemoteOptions> = {}) =>
  failureOf(clientOf(origin, options).send(credentialAt(origin), picture, never))

/** An upload node that reads the picture, and answers so. */
const nodeAnswering = (status: number, answer: object) =>
  serve(async (request, response) => {
    await bodyOf(request)
    json(response, status, answer)
  })

/** The parts of a multipart body, as an independent parser reads them. */
async function partsOf(contentType: string, body: Readable) {
  const parts: { field: string; name: string; mime: string; bytes: Buffer }[] = []
  const reading: Promise<void>[] = []
  const parser = new Busboy({ headers: { 'content-type': contentType } })
  parser.on('file', (field, stream, name, _, mime) => {
    reading.push(
      (async () => {
        const chunks: Buffer[] = []
        for await (const chunk of stream) chunks.push(chunk)
        parts.push({ field, name, mime, bytes: Buffer.concat(chunks) })
      })(),
    )
  })
  await new Promise((resolve, reject) => body.pipe(parser).on('finish', resolve).on('error', reject))
  await Promise.all(reading)
  return parts
}

const SIZES = [1, 1000, 256 * 1024, 256 * 1024 + 1, 3_000_000]

test.each(SIZES.flatMap(size => [inMemory, inOnePiece, chunked].map(make => make(bytesOf(size)))))(
  'a picture of $size bytes arrives whole as the only part "file", with a content-length and without the API key',
  async picture => {
    const origin = await serve(async (request, response) => {
      const parts = await partsOf(request.headers['content-type']!, request)
      const [part] = parts
      const right =
        parts.length === 1 &&
        part?.field === 'file' &&
        part.mime === 'image/jpeg' &&
        sha256(part.bytes) === sha256(bytesOf(picture.size)) &&
        Number(request.headers['content-length']) > picture.size &&
        request.headers['x-api-key'] === undefined &&
        !JSON.stringify(request.headers).includes(API_KEY)
      if (right) json(response, 200, stored)
      else failure(response, 400, 'MISSING_PARAMS')
    })
    const sent = await successOf(clientOf(origin).send(credentialAt(origin), picture, never))
    expect(sent).toEqual({ imageId: 'I', cdnUrl: 'https://c.example/i/I' })
  },
)

test.each(['plain.png', 'spaces and ümlaut 图.png', 'semi;colon=.png', "quote's.png"])(
  'the file name %j is read back as it was',
  async fileName => {
    const body = multipartOf({ ...inMemory(bytesOf(10)), fileName })
    const [part] = await partsOf(body.contentType, Readable.from(body.chunks))
    expect(part!.name).toBe(fileName)
  },
)

test('a file name can not break out of its header', async () => {
  const body = multipartOf({ ...inMemory(bytesOf(10)), fileName: 'a"\r\nX-Evil: 1\r\n\r\n--.png' })
  const [head] = await Readable.from(body.chunks).toArray()
  const text = Buffer.from(head).toString()
  expect(text).toContain('filename="a%22%0D%0AX-Evil: 1%0D%0A%0D%0A--.png"\r\n')
  expect(text.split('\r\n')).toHaveLength(5)
})

test('the upload address is used byte for byte', async () => {
  const path = `/up/../up/./%7Euser\\x/{a}|"b"//?sig=${TOKEN}%2f&x='y'&&z`
  let url = ''
  const origin = await serve(async (request, response) => {
    url = request.url!
    await bodyOf(request)
    json(response, 200, stored)
  })
  await successOf(clientOf(origin).send(credentialAt(origin, path), inMemory(bytesOf(10)), never))
  expect(url).toBe(path)
})

test('when an upload node refuses, nothing was stored', async () => {
  const error = `unknown credential /up/${TOKEN} (${TOKEN})`
  const origin = await nodeAnswering(403, { success: false, error, code: 'FORBIDDEN' })
  const refusal = await refusalAt(origin)
  expect(refusal).toMatchObject({ remedy: 'refused_by_node', code: 'FORBIDDEN', status: 403 })
})

test('when the node does not accept the dimensions, the remedy is to leave them out', async () => {
  const origin = await nodeAnswering(400, { success: false, error: 'no', code: 'DIMENSION_MISMATCH' })
  const refusal = await refusalAt(origin)
  expect(refusal.remedy).toBe('other_dimensions')
})

const LARGE = 32 * 2 ** 20
const HTML = '<html>502 Bad Gateway</html>'

test.each([
  ['in memory', inMemory],
  ['in one piece', inOnePiece],
  ['in chunks', chunked],
])('a refusal before all of a picture %s was sent ends the sending, and is read', async (_, make) => {
  let arrived = 0
  const origin = await serve((request, response) => {
    request.on('data', chunk => {
      arrived += chunk.length
      if (response.headersSent) return
      request.pause()
      failure(response, 413, 'FILE_TOO_LARGE', { connection: 'keep-alive' })
    })
  })
  const refusal = await refusalAt(origin, make(bytesOf(LARGE)))
  expect(refusal).toMatchObject({ remedy: 'change_picture', code: 'FILE_TOO_LARGE', status: 413 })
  expect(arrived).toBeLessThan(LARGE)
})

test('a page of a proxy before all of a picture was sent is a refusal of this picture, and no outage', async () => {
  const origin = await serve(request => {
    request.once('data', () => {
      request.pause()
      const { socket } = request
      socket.write(page('413 Large', HTML))
    })
  })
  const refusal = await refusalAt(origin, chunked(bytesOf(LARGE)))
  expect(refusal).toMatchObject({ remedy: 'refused_by_node', code: 'HOST_ANSWER', status: 413 })
  expect(isOutage(refusal as unknown as HostFailure)).toBe(false)
  expect(resultOfRefusal(refusal as unknown as HostFailure, Buffer.alloc(32), 0)).toMatchObject({
    kind: 'failed',
    retryAt: 3_600_000,
  })
})

test.each([
  ['in memory', inMemory],
  ['in one piece', inOnePiece],
  ['in chunks', chunked],
])('when the connection breaks in the middle of a picture %s, nothing was stored', async (_, make) => {
  const origin = await serveRaw(socket => socket.once('data', () => socket.resetAndDestroy()))
  const broken = await refusalAt(origin, make(bytesOf(LARGE)))
  expect(broken).toMatchObject({ remedy: 'new_credential', code: 'HOST_UNREACHABLE' })
})

/** A server that calls `answer` when a whole request has arrived. */
async function afterWhole(answer: (socket: Socket) => void): Promise<string> {
  return serveRaw(socket => {
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      const length = Number(/content-length: (\d+)/.exec(text)?.[1])
      if (text.length >= text.indexOf('\r\n\r\n') + 4 + length) answer(socket)
    })
  })
}

test.each<[string, (socket: Socket) => void]>([
  ['a reset', socket => socket.resetAndDestroy()],
  ['a closed connection', socket => socket.end()],
  ['an HTML page', socket => socket.end(page('502 Bad', HTML))],
  ['half an answer', socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"success":tr')],
  ['another success', socket => socket.end(page('200 OK', '{"success":"yes"}'))],
  ['success with a failing status', socket => socket.end(page('500 No', JSON.stringify(stored)))],
  ['a redirect', socket => socket.end('HTTP/1.1 307 Go\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n')],
  ['no HTTP', socket => socket.end('220 mail.example ESMTP\r\n')],
])('%s after the whole picture was sent leaves the outcome in doubt', async (_, answer) => {
  const origin = await afterWhole(answer)
  const open = await refusalAt(origin, inMemory(bytesOf(1000)))
  expect(open.remedy).toBe('find_out')
})

test.each([
  ['without success', { image_id: 'I' }],
  ['without the id', { success: true }],
  ['with both', { ...stored, cdn_url: undefined }],
])('the node of a credential that named the id may answer %s', async (_, answer) => {
  const origin = await nodeAnswering(200, answer)
  const credential = { ...credentialAt(origin), imageId: 'I' }
  const sent = await successOf(clientOf(origin).send(credential, inMemory(bytesOf(10)), never))
  expect(sent).toEqual({ imageId: 'I', cdnUrl: null })
})

test('an answer that says neither leaves the outcome in doubt', async () => {
  const origin = await nodeAnswering(200, {})
  const credential = { ...credentialAt(origin), imageId: 'I' }
  const open = await failureOf(clientOf(origin).send(credential, inMemory(bytesOf(10)), never))
  expect(open.remedy).toBe('find_out')
})

test('silence after the whole picture was sent leaves the outcome in doubt', async () => {
  const origin = await afterWhole(() => {})
  const open = await refusalAt(origin, inMemory(bytesOf(1000)), { timeoutMs: 1000 })
  expect(open).toMatchObject({ remedy: 'find_out', code: 'HOST_UNREACHABLE' })
})

test('when an upload node stops reading, the upload ends and nothing was stored', async () => {
  const origin = await serveRaw(socket => socket.pause())
  const stuck = await refusalAt(origin, inMemory(bytesOf(LARGE)), { timeoutMs: 300 })
  expect(stuck).toMatchObject({ remedy: 'new_credential', code: 'HOST_UNREACHABLE' })
})

test('an upload ends when its credential expires, even if it makes progress', async () => {
  const origin = await serveRaw(socket => socket.resume())
  const slow = {
    ...chunked(bytesOf(1000)),
    async *chunks() {
      for (let i = 0; i < 1000; i++) {
        yield bytesOf(1)
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    },
  }
  const late = await refusalAt(origin, slow, { credentialLifetimeMs: 1000 })
  expect(late).toMatchObject({ remedy: 'faster_line', code: 'TOO_SLOW', endpoint: 'send' })
})

test('nothing leaves once the credential has expired, however late that is noticed', async () => {
  let bytes = 0
  const origin = await serveRaw(socket =>
    socket.on('data', chunk => {
      bytes += chunk.length
    }),
  )
  let now = 0
  const clock = { monotonic: () => now, sleep: async () => {} }
  // The time passes while the request is made, as it does while a connection is made.
  const picture = {
    ...inMemory(bytesOf(10)),
    get fileName() {
      now = 2000
      return 'a.png'
    },
  }
  const expired = await refusalAt(origin, picture, { credentialLifetimeMs: 1000, clock })
  expect(expired).toMatchObject({ remedy: 'new_credential', code: 'CREDENTIAL_EXPIRED', unsent: true })
  expect(bytes).toBe(0)
})

test('a success before the whole picture was sent leaves the outcome in doubt', async () => {
  const answer = page('200 OK', JSON.stringify(stored))
  const origin = await serveRaw(socket => socket.once('data', () => socket.write(answer)))
  const early = await refusalAt(origin, chunked(bytesOf(LARGE)))
  expect(early).toMatchObject({ remedy: 'find_out', code: 'HOST_ANSWER' })
})

test('when nothing listens, nothing was sent', async () => {
  const origin = await deadOrigin()
  const dead = await refusalAt(origin)
  expect(dead).toMatchObject({ remedy: 'new_credential', code: 'HOST_UNREACHABLE' })
})

/** A host that reads bodies. `body`: the first body, null when it broke off. */
async function collecting() {
  const begun = Promise.withResolvers<void>()
  const body = Promise.withResolvers<Buffer | null>()
  const origin = await serve(request => {
    request.once('data', () => begun.resolve())
    body.resolve(bodyOf(request).catch(() => null))
  })
  return { origin, begun: begun.promise, body: body.promise }
}

/** A picture that calls `end` when the host has some of its bytes. */
const ending = (begun: Promise<void>, end: () => void) => ({
  ...chunked(bytesOf(500_000)),
  async *chunks() {
    yield bytesOf(400_000)
    await begun
    end()
  },
})

const saysSo = () => {
  throw new PictureChanged('a/secret/path.png')
}

test.each<[string, () => void]>([
  ['and says so', saysSo],
  ['by getting shorter', () => {}],
])(
  'a picture that changes while it is sent, %s, is not stored: its last byte is not sent',
  async (_, end) => {
    const { origin, begun, body } = await collecting()
    const changed = await refusalAt(origin, ending(begun, end))
    expect(changed).toMatchObject({ remedy: 'changed_underway', code: 'PICTURE_CHANGED', endpoint: 'send' })
    expect(await body).toBeNull()
  },
)

test('a picture that grows while it is sent is not stored', async () => {
  const { origin } = await collecting()
  const grown = { ...chunked(bytesOf(500_000)), size: 400_000 }
  const changed = await refusalAt(origin, grown)
  expect(changed.remedy).toBe('changed_underway')
})

test('an error of albumd while a picture is sent is not mistaken for a failure of the host', async () => {
  const { origin, begun } = await collecting()
  const broken = ending(begun, () => {
    throw new RangeError('a bug')
  })
  await expect(clientOf(origin).send(credentialAt(origin), broken, never)).rejects.toThrow('a bug')
})

test('a cancelled upload is in doubt only when the whole picture was sent', async () => {
  const whole = Promise.withResolvers<void>()
  const origin = await afterWhole(() => whole.resolve())
  const abort = new AbortController()
  const sending = failureOf(clientOf(origin).send(credentialAt(origin), inMemory(bytesOf(10)), abort.signal))
  await whole.promise
  abort.abort()
  expect(await sending).toMatchObject({ remedy: 'find_out', code: 'CANCELLED' })

  const begun = Promise.withResolvers<void>()
  const stuck = await serveRaw(socket => socket.once('data', () => begun.resolve(void socket.pause())))
  const again = new AbortController()
  const cut = failureOf(clientOf(stuck).send(credentialAt(stuck), chunked(bytesOf(LARGE)), again.signal))
  await begun.promise
  again.abort()
  expect(await cut).toMatchObject({ remedy: 'cancelled', code: 'CANCELLED' })
})

test('a delivery address that is not HTTPS is not used, although the picture is stored', async () => {
  const origin = await nodeAnswering(200, { ...stored, cdn_url: 'http://c.example/i/I' })
  const sent = await successOf(clientOf(origin).send(credentialAt(origin), inMemory(bytesOf(10)), never))
  expect(sent).toEqual({ imageId: stored.image_id, cdnUrl: null })
})
