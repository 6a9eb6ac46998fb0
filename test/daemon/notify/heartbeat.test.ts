import { expect, it } from 'vitest'
import { sendHeartbeat } from '../../../src/daemon/notify/notifier.ts'
import { serve } from '../../remote/serve.ts'

const NEVER = new AbortController().signal

it("a heartbeat adds the age in seconds to the address's own query", async () => {
  const asked: string[] = []
  const base = await serve((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.end('OK')
  })
  expect(await sendHeartbeat(`${base}/api/push/token?status=up`, 61_500, NEVER)).toBeNull()
  expect(asked).toEqual(['GET /api/push/token?status=up&oldest_unsynced=61'])
})

it.each([
  [404, 'the answer was 404'],
  [503, 'the answer was 503'],
  [301, 'it was redirected (301); write the address that it leads to'],
])(
  'a heartbeat answered with %s follows no redirect, and its error names no address',
  async (status, said) => {
    const asked: string[] = []
    const base = await serve((request, response) => {
      asked.push(request.url!)
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    expect(await sendHeartbeat(`${base}/secret`, 0, NEVER)).toBe(said)
    expect(asked).toHaveLength(1)
  },
)

it('a heartbeat without an answer fails after a time', async () => {
  const base = await serve(() => {})
  expect(await sendHeartbeat(`${base}/secret`, 0, NEVER, 50)).toBe('no answer within 0.05 s')
})

it('a heartbeat that could not be sent answers why', async () => {
  expect(await sendHeartbeat('http://127.0.0.1:1/secret', 0, NEVER)).toBe('ECONNREFUSED')
})

it('a heartbeat ends when albumd ends', async () => {
  const stop = new AbortController()
  const base = await serve(() => stop.abort())
  expect(await sendHeartbeat(`${base}/secret`, 0, stop.signal, 600_000)).toBe('it could not be sent')
})
