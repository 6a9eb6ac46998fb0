import { expect, test } from 'vitest'
import { API_KEY, clientOf, failureOf, never, successOf } from './client-of.ts'
import { deadOrigin, json, page, serve, serveRaw } from './serve.ts'

const HTML = '<html><body>Welcome to our hotel Wi-Fi</body></html>'

const answering = (text: string) => serveRaw(socket => void socket.once('data', () => socket.end(text)))

test.each<[string, string]>([
  ['an HTML page', page('200 OK', HTML)],
  ['an HTML page of a proxy', page('502 Bad Gateway', HTML)],
  ['an HTML page of another path', page('404 Not Found', HTML)],
  ['JSON of something else', page('200 OK', '[1, 2, 3]')],
  ['nothing', page('200 OK', '')],
  ['truncated JSON', page('200 OK', '{"success":true,"data":{"albums":[')],
  ['bytes that are no text', page('200 OK', '\u0000\u0001\u0002')],
  ['no HTTP', '220 mail.example ESMTP\r\n'],
  ['a header without an end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`],
])('%s is a fault of the host, to be asked again later', async (_, text) => {
  const origin = await answering(text)
  expect(await failureOf(clientOf(origin).list(null, 1, never))).toMatchObject({
    code: 'HOST_ANSWER',
    remedy: 'later',
    endpoint: 'list',
  })
})

test.each<[string, string]>([
  ['an HTML page', page('502 Bad Gateway', HTML)],
  ['half an answer', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"succ'],
  ['a redirect', page('303 See Other', '')],
  ['an end without an answer', ''],
])('%s leaves open whether an album was made', async (_, text) => {
  const origin = await answering(text)
  expect((await failureOf(clientOf(origin).createAlbum({ name: 'A' }, never))).remedy).toBe('find_out')
})

test('when nothing listens, no album was made', async () => {
  const host = clientOf(await deadOrigin())
  expect(await failureOf(host.createAlbum({ name: 'A' }, never))).toMatchObject({ remedy: 'later' })
})

test.each([301, 302, 307, 308])('a redirect with %i is not followed, wherever it leads', async status => {
  const urls: string[] = []
  const origin = await serve((request, response) => {
    urls.push(request.url!)
    response.writeHead(status, { location: '/api/v1/elsewhere' }).end()
  })
  expect(await failureOf(clientOf(origin).list(null, 1, never))).toMatchObject({
    code: 'HOST_REDIRECT',
    remedy: 'change_request',
    status,
  })
  expect(urls).toHaveLength(1)
})

test('an endless answer is cut off', async () => {
  let sent = 0
  const origin = await serve((_, response) => {
    const chunk = 'x'.repeat(64 * 1024)
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length
      sent += chunk.length
    }
    response.on('drain', more)
    more()
  })
  const endless = await failureOf(clientOf(origin).list(null, 1, never))
  expect(endless).toMatchObject({ code: 'HOST_ANSWER', remedy: 'later' })
  expect(endless.message).toContain('cut off')
  expect(sent).toBeLessThan(64 * 2 ** 20)
})

test('a compressed answer is not decompressed, because a few bytes can become gigabytes', async () => {
  const origin = await serve((request, response) => {
    expect(request.headers['accept-encoding']).toBe('identity')
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from('1f8b080000000000', 'hex'))
  })
  expect((await failureOf(clientOf(origin).list(null, 1, never))).code).toBe('HOST_ANSWER')
})

test('a byte order mark before an answer is passed over', async () => {
  const origin = await serve((_, response) => response.end('\ufeff{"success":true}'))
  await successOf(clientOf(origin).deleteImage('x', never))
})

test.each([
  ['null', { albums: null, images: null }],
  ['left out', {}],
])('lists that are empty may be %s', async (_, lists) => {
  const pagination = { total_pages: 0, total_images: 0 }
  const data = { ...lists, pagination }
  const origin = await serve((_, response) => json(response, 200, { success: true, data }))
  const listed = await successOf(clientOf(origin).list(null, 1, never))
  expect(listed).toMatchObject({ albums: [], images: [] })
})

test.each<[string, number, unknown, string]>([
  ['without a code', 400, { success: false, error: 'no' }, 'change_request'],
  ['whose code and words are no text', 403, { success: false, error: { a: 1 }, code: 7 }, 'not_permitted'],
  ['with a status of success', 200, { success: false, error: 'no', code: 'BAD_TYPE' }, 'change_request'],
  ['without a code while the host is out of order', 503, { success: false }, 'later'],
])('a failure %s is a refusal', async (_, status, body, remedy) => {
  const origin = await serve((_, response) => json(response, status, body))
  const failure = await failureOf(clientOf(origin).requestUpload(request, never))
  expect(failure).toMatchObject({ remedy, status })
  expect(failure.code).not.toBe('HOST_ANSWER')
})

test('an informational answer (1xx) before the real answer is ignored', async () => {
  const origin = await serve((_, response) => {
    response.writeProcessing()
    json(response, 200, { success: true, message: 'deleted' })
  })
  await successOf(clientOf(origin).deleteImage('x', never))
})

test.each<[string, () => Promise<string>, RegExp]>([
  ['refuses', deadOrigin, /^Cannot reach 127\.0\.0\.1:\d+ \(connection refused\)$/],
  [
    'is unknown',
    async () => 'https://no-such-host.invalid',
    /^Cannot reach no-such-host\.invalid:443 \((no such name|name could not be looked up)\)$/,
  ],
  ['hangs up', () => answering(''), /^Cannot reach 127\.0\.0\.1:\d+ \(connection closed\)$/],
  ['is silent', () => serveRaw(() => {}), /^Cannot reach 127\.0\.0\.1:\d+ \(no answer in time\)$/],
  [
    'stops halfway',
    () => serveRaw(socket => void socket.once('data', () => socket.write(page('200 OK', '{}').slice(0, -1)))),
    /answer broke off/,
  ],
])(
  'the message about a host that %s is one line with its name and port, without the path',
  async (_, open, line) => {
    const host = clientOf(await open(), { timeoutMs: 1000 })
    const { message, code, remedy } = await failureOf(host.deleteImage('private-id', never))
    expect({ code, remedy }).toEqual({ code: 'HOST_UNREACHABLE', remedy: 'later' })
    expect(message).toMatch(line)
    expect(message).not.toMatch(/private-id|api\/v1/)
  },
)

test('a request can be cancelled while the host is silent', async () => {
  const abort = new AbortController()
  const origin = await serve(() => abort.abort())
  const listing = failureOf(clientOf(origin).list(null, 1, abort.signal))
  expect(await listing).toMatchObject({ code: 'CANCELLED', remedy: 'cancelled' })
})

test('a request that is cancelled before its turn is not sent', async () => {
  let asked = 0
  const origin = await serve(() => asked++)
  expect(await failureOf(clientOf(origin).list(null, 1, AbortSignal.abort()))).toMatchObject({
    code: 'CANCELLED',
  })
  expect(asked).toBe(0)
})

test('closing does not wait for connections that are kept open', async () => {
  const origin = await serve((_, response) => json(response, 200, { success: true, message: 'deleted' }))
  const host = clientOf(origin)
  await successOf(host.deleteImage('x', never))
  await host.close()
  await expect(host.deleteImage('x', never)).rejects.toThrow()
})

const request = { file_name: 'a.png', file_size: 1, mime_type: 'image/png', width: 1, height: 1 }

test('an answer that comes slowly and never ends is cut off', async () => {
  const origin = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  })
  const answer = await clientOf(origin, { timeoutMs: 200 }).list(null, 1, never)
  expect(answer).toMatchObject({ ok: false, failure: { remedy: 'later', code: 'HOST_UNREACHABLE' } })
})

/** What a client makes of a credential with these addresses, both below the host's own. */
async function grantedWith(uploadPath: string, cdnPath: string) {
  const origin: string = await serve((_, response) => {
    const data = { upload_url: `${origin}${uploadPath}`, cdn_url: `${origin}${cdnPath}` }
    json(response, 200, { success: true, data })
  })
  return { origin, answer: await clientOf(origin).requestUpload(request, never) }
}

test('a delivery address that contains the API key is neither used nor shown, and the failure says why', async () => {
  const { answer } = await grantedWith('/node?t=1', `/i/${API_KEY}`)
  expect(answer).toMatchObject({ ok: false, failure: { code: 'HOST_ADDRESS', issued: true } })
  expect(JSON.stringify(answer)).toContain('address_with_key')
  expect(JSON.stringify(answer)).not.toContain(API_KEY)
})

const ID = '0123456789abcdef0123'
const SIGNED = 'fedcba98765432100123456789'

test.each([
  ['all that is secret in the upload address', `/node?t=${ID}`, `/i/${ID}.png`, null],
  [
    'an id of the upload address beside its secret',
    `/up/${ID}?sig=${SIGNED}`,
    `/i/${ID}.png`,
    `/i/${ID}.png`,
  ],
  ['nothing of the upload address', `/node?t=${ID}`, '/i/1', '/i/1'],
])('a credential is used whose delivery address contains %s', async (_, upload, cdn, kept) => {
  const { origin, answer } = await grantedWith(upload, cdn)
  expect(answer).toMatchObject({ ok: true, value: { cdnUrl: kept === null ? null : origin + kept } })
})

test.each([
  ['without a delivery address', {}, null],
  ['with an address that is no address', { cdn_url: '/i/1' }, null],
  [
    'with spaces and other letters in it',
    { cdn_url: 'https://c.example/i/ä b.png#x' },
    'https://c.example/i/%C3%A4%20b.png',
  ],
])('a credential is used %s', async (_, address, cdnUrl) => {
  const data = { upload_url: 'https://n.example/up', ...address }
  const origin = await serve((_, response) => json(response, 200, { success: true, data }))
  expect(await clientOf(origin).requestUpload(request, never)).toMatchObject({ ok: true, value: { cdnUrl } })
})

test('a credential that can not be read is not asked for again, because it may have cost quota', async () => {
  let asked = 0
  const origin = await serve((_, response) => {
    asked++
    json(response, 200, { success: true, data: { upload_url: 7 } })
  })
  const client = clientOf(origin, { patience: { attempts: 3, maxDelayMs: 1 } })
  const failure = await failureOf(client.requestUpload(request, never))
  expect(failure).toMatchObject({ code: 'HOST_ANSWER', issued: true })
  expect(failure.message).toContain('data.upload_url')
  expect(asked).toBe(1)
})

test("another upload's credential is taken out of a failure that repeats it", async () => {
  const origin: string = await serve((request, response) => {
    const data = { upload_url: `${origin}/node?t=${ID}`, cdn_url: `${origin}/i/1` }
    if (request.method === 'POST') json(response, 200, { success: true, data })
    else json(response, 400, { success: false, code: `ODD_${ID}`, error: `${ID} is under way` })
  })
  const client = clientOf(origin)
  expect(await client.requestUpload(request, never)).toMatchObject({ ok: true })
  const answer = await client.list(null, 1, never)
  expect(answer).toMatchObject({ ok: false, failure: { message: expect.stringContaining('is under way') } })
  expect(JSON.stringify(answer)).not.toContain(ID)
})

test('an address in a failure of the host is taken out, because it may contain a credential', async () => {
  const error = 'try https://node.example/up/SECRET-CREDENTIAL instead'
  const origin = await serve((_, response) => json(response, 400, { success: false, code: 'ODD', error }))
  const answer = await clientOf(origin).requestUpload(request, never)
  expect(JSON.stringify(answer)).not.toContain('SECRET-CREDENTIAL')
  expect(answer).toMatchObject({ ok: false, failure: { code: 'ODD' } })
})
