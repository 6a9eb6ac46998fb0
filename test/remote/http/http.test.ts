import type { Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Http } from '../../../src/remote/http/http.ts'
import { bytesOf, clientOf, inMemory, never, TOKEN } from '../client-of.ts'
import { bodyOf, json, page, serve, serveRaw } from '../serve.ts'

/** More bytes than the system buffers for a connection that nobody reads. */
const ENDLESS = 64 * 2 ** 20

const stored = { success: true, image_id: 'I', cdn_url: 'https://c.example/i/I' }

test('after an answer that came early the connection still writes the request from memory', async () => {
  const held = Promise.withResolvers<Socket>()
  const origin = await serveRaw(socket =>
    socket.once('data', () => {
      socket.pause()
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
      held.resolve(socket)
    }),
  )
  const http = new Http({ timeoutMs: 5000 })
  onTestFinished(() => http.close())
  expect(http.isWriting()).toBe(false)
  const address = { origin, path: '/', where: 'the host', secure: false, loopback: true }
  const request = { method: 'POST', address, headers: {}, body: Buffer.alloc(ENDLESS) } as const
  const answer = await http.exchange(request, never)
  expect(answer).toMatchObject({ kind: 'answer', status: 200 })
  expect(http.isWriting()).toBe(true)
  const socket = await held.promise
  socket.resume()
  await expect.poll(() => http.isWriting()).toBe(false)
})

async function sentTo(origin: string) {
  const released = vi.fn()
  const credential = { uploadUrl: `${origin}/up/${TOKEN}`, cdnUrl: null, imageId: null }
  const sent = await clientOf(origin).send(credential, { ...inMemory(bytesOf(100_000)), released }, never)
  return { sent, released }
}

test('the memory of a picture is released when the host has it', async () => {
  const origin = await serve(async (request, response) => {
    await bodyOf(request)
    json(response, 200, stored)
  })
  const { sent, released } = await sentTo(origin)
  expect(sent.ok).toBe(true)
  expect(released).toHaveBeenCalledTimes(1)
})

test.each([
  ['that the host refuses', 500],
  ['whose answer is lost', null],
])('a picture %s is not released', async (_, status) => {
  const origin = await serve(async (request, response) => {
    await bodyOf(request)
    if (status === null) request.socket.destroy()
    else json(response, status, { success: false, error: 'no', code: 'NO_AVAILABLE_IO_NODE' })
  })
  const { sent, released } = await sentTo(origin)
  expect(sent.ok).toBe(false)
  expect(released).not.toHaveBeenCalled()
})

/** If closing did not end it, the connection attempt would end by its own timeout of ten seconds. */
test('closing ends a connection that is still being made', { timeout: 9000 }, async () => {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  // It never answers the TLS handshake.
  const origin = await serveRaw(socket => {
    socket.once('data', () => begun.resolve())
    socket.once('close', () => ended.resolve())
  })
  const host = clientOf(origin.replace('http:', 'https:'), { timeoutMs: 60_000 })
  const abort = new AbortController()
  const listed = host.list(null, 1, abort.signal)
  await begun.promise
  abort.abort()
  expect(await listed).toMatchObject({ ok: false, failure: { code: 'CANCELLED' } })
  await host.close()
  await ended.promise
})

test.each([
  ['one', ['HTTP/1.1 100 Continue\r\n\r\n']],
  [
    'several, in pieces',
    ['HTTP/1.1 100 Con', 'tinue\r\nx: y\r\n', '\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Go\r\n\r\n'],
  ],
])('an unasked 1xx before the answer is passed over: %s', async (_, interim) => {
  const origin = await serveRaw(socket =>
    socket.on('data', async () => {
      for (const piece of interim) {
        socket.write(piece)
        await new Promise(resolve => setImmediate(resolve))
      }
      socket.write(page('200 OK', '{"success":true,"message":"deleted"}'))
    }),
  )
  const host = clientOf(origin)
  for (let request = 0; request < 2; request++)
    expect(await host.deleteImage('x', never)).toMatchObject({ ok: true })
})
