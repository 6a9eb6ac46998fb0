import { expect, test } from 'vitest'
import { API_KEY, clientOf, never } from './client-of.ts'
import { json, serve } from './serve.ts'

const request = { file_name: 'a.png', file_size: 1, mime_type: 'image/png', width: 1, height: 1 }

test('an answer that comes drop by drop for ever is cut off', async () => {
  const origin = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  })
  const answer = await clientOf(origin, { timeoutMs: 200 }).list(null, 1, never)
  expect(answer).toMatchObject({ ok: false, failure: { remedy: 'later', code: 'HOST_UNREACHABLE' } })
})

test.each([
  ['the API key', (origin: string) => `${origin}/i/${API_KEY}`],
  ['the upload credential', (origin: string) => `${origin}/i/1?c=0123456789abcdef0123`],
])(
  'a delivery address that holds %s is not used, nor repeated, and the failure says that it does',
  async (_, cdnUrl) => {
    const origin: string = await serve((_, response) =>
      json(response, 200, {
        success: true,
        data: { upload_url: `${origin}/node?t=0123456789abcdef0123`, cdn_url: cdnUrl(origin) },
      }),
    )
    const answer = await clientOf(origin).requestUpload(request, never)
    expect(answer).toMatchObject({ ok: false, failure: { code: 'HOST_ADDRESS' } })
    expect(JSON.stringify(answer)).toContain('contains the API key or the upload address')
    expect(JSON.stringify(answer)).not.toContain(API_KEY)
    expect(JSON.stringify(answer)).not.toContain('0123456789abcdef0123')
  },
)

test("a failure that repeats another upload's credential is told without it", async () => {
  const token = '0123456789abcdef0123'
  const origin: string = await serve((request, response) => {
    if (request.method === 'POST')
      json(response, 200, {
        success: true,
        data: { upload_url: `${origin}/node?t=${token}`, cdn_url: `${origin}/i/1` },
      })
    else json(response, 400, { success: false, code: `ODD_${token}`, error: `${token} is under way` })
  })
  const client = clientOf(origin)
  expect(await client.requestUpload(request, never)).toMatchObject({ ok: true })
  const answer = await client.list(null, 1, never)
  expect(answer).toMatchObject({ ok: false, failure: { message: expect.stringContaining('is under way') } })
  expect(JSON.stringify(answer)).not.toContain(token)
})

test('an address in the words of a failure is not repeated: it may hold a credential', async () => {
  const origin = await serve((_, response) =>
    json(response, 400, {
      success: false,
      code: 'ODD',
      error: 'try https://node.example/up/SECRET-CREDENTIAL instead',
    }),
  )
  const answer = await clientOf(origin).requestUpload(request, never)
  expect(JSON.stringify(answer)).not.toContain('SECRET-CREDENTIAL')
  expect(answer).toMatchObject({ ok: false, failure: { code: 'ODD' } })
})
