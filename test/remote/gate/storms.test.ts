import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { SteadyClock } from '../../../src/protocol/clock.ts'
import { bytesOf, clientOf, failureOf, inMemory, never, successOf } from '../client-of.ts'
import { bodyOf, EMPTY_PAGE, failure, json, serve } from '../serve.ts'

/** A clock for real requests on which waits end at once, and on which no other time passes. `waits`: how long they would have
 * been. */
function hurriedClock() {
  const waits: number[] = []
  let passed = 0
  const clock: SteadyClock = {
    monotonic: () => passed,
    async sleep(ms) {
      waits.push(ms)
      passed += ms
    },
  }
  return { clock, waits, passed: () => passed }
}

/** A host that answers the first `lasts` requests with `storm`, and the later ones as it should. */
async function hostIn(
  storm: (response: ServerResponse, request: IncomingMessage) => void,
  lasts: number,
  timeoutMs = 30_000,
) {
  let asked = 0
  const origin = await serve(async (request, response) => {
    await bodyOf(request)
    if (asked++ < lasts) storm(response, request)
    else json(response, 200, { success: true, data: EMPTY_PAGE })
  })
  const time = hurriedClock()
  const patience = { attempts: 10, maxDelayMs: 300_000 }
  const host = clientOf(origin, { clock: time.clock, random: () => 0.5, patience, timeoutMs })
  return { host, ...time, asked: () => asked }
}

const limited = (headers: Record<string, string>) => (response: ServerResponse) =>
  failure(response, 429, 'RATE_LIMITED', headers)

const inAMinute = () => new Date(Math.floor(Date.now() / 1000) * 1000 + 60_000).toUTCString()

test.each<[string, (response: ServerResponse) => void, number]>([
  ['without headers', limited({}), 5 * 1030],
  ['with Retry-After in seconds', limited({ 'retry-after': '20' }), 5 * 20_000],
  [
    'with Retry-After as a date',
    response => limited({ 'retry-after': inAMinute(), date: new Date().toUTCString() })(response),
    5 * 58_000,
  ],
  [
    'from a proxy that speaks HTML, with Retry-After',
    response => response.writeHead(429, { 'retry-after': '7' }).end('<html>slow down</html>'),
    5 * 7000,
  ],
])(
  'after a storm of 429 %s, and the waits that it asks for, the request succeeds',
  async (_, storm, least) => {
    const { host, asked, passed } = await hostIn(storm, 5)
    await successOf(host.list(null, 1, never))
    expect(asked()).toBe(6)
    expect(passed()).toBeGreaterThanOrEqual(least)
  },
)

test('X-RateLimit-Limit of a 429 counts afterwards', async () => {
  const { host, passed, asked } = await hostIn(limited({ 'x-ratelimit-limit': '1' }), 1)
  for (let n = 0; n < 4; n++) await successOf(host.list(null, 1, never))
  expect(asked()).toBe(5)
  expect(passed()).toBeGreaterThanOrEqual(4 * 1000)
})

test.each<[string, (response: ServerResponse, request: IncomingMessage) => void]>([
  ['500 with a page', response => response.writeHead(500).end('<html>oops</html>')],
  ['503 with the code of §7', response => failure(response, 503, 'NO_AVAILABLE_IO_NODE')],
  ['504 of a gateway', response => response.writeHead(504).end()],
  ['resets', (_, request) => request.socket.resetAndDestroy()],
  [
    'answers that end in their middle',
    response => response.writeHead(200, { 'content-length': 99 }).write('{"suc', () => response.destroy()),
  ],
  ['silence', () => {}],
  ['HTML', response => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hi</html>')],
])('after %s, a request that does no harm twice is sent again with growing delays', async (name, storm) => {
  // Each silence takes as long as the timeout. The other storms are not to run into the timeout.
  const { host, asked, waits } = await hostIn(storm, 5, name === 'silence' ? 1500 : undefined)
  await successOf(host.list(null, 1, never))
  expect(asked()).toBe(6)
  const pauses = waits.filter(ms => ms > 0).map(ms => Math.round(ms / 125))
  expect(pauses).toEqual([1, 2, 4, 8, 16])
})

test('no storm makes an album or a picture twice', async () => {
  const storm = (response: ServerResponse) => response.writeHead(502).end('<html>bad gateway</html>')
  const album = await hostIn(storm, 100)
  expect((await failureOf(album.host.createAlbum({ name: 'A' }, never))).remedy).toBe('find_out')
  expect(album.asked()).toBe(1)

  let sent = 0
  const origin = await serve(async (request, response) => {
    await bodyOf(request)
    sent++
    storm(response)
  })
  const { clock } = hurriedClock()
  const host = clientOf(origin, { clock, patience: { attempts: 10, maxDelayMs: 1000 } })
  const credential = { uploadUrl: `${origin}/up/1`, cdnUrl: null, imageId: null }
  expect((await failureOf(host.send(credential, inMemory(bytesOf(1000)), never))).remedy).toBe('find_out')
  expect(sent).toBe(1)
})

test('when a storm outlasts the patience, requests fail, and later requests are answered without being sent', async () => {
  const { host, asked } = await hostIn(response => response.writeHead(503).end('<html>'), 1000)
  await failureOf(host.list(null, 1, never))
  expect(asked()).toBe(10)
  const asks = Array.from({ length: 20 }, () => failureOf(host.deleteImage('x', never)))
  const refusals = await Promise.all(asks)
  expect(refusals[0]).toMatchObject({ code: 'HOST_ANSWER', remedy: 'later', unsent: true })
  expect(asked()).toBe(10)
})
