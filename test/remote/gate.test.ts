import { expect, test, vi } from 'vitest'
import { REQUESTS_PER_SECOND } from '../../src/protocol/limits.ts'
import type { RequestEvent } from '../../src/remote/gate/gate.ts'
import { WINDOW_MS } from '../../src/remote/gate/rate-window.ts'
import {
  all,
  clock,
  failed,
  gateOf,
  holdTime,
  never,
  refused,
  succeeded,
  through,
  times,
} from './gate-stage.ts'

holdTime()

test('a cancelled request leaves queue, window and pause at once', async () => {
  const gate = gateOf({ concurrency: 1 })
  const slow = through(gate, 'list', succeeded, 60_000)
  const first = slow.pass()
  const abort = new AbortController()
  const waiting = slow.pass(abort.signal)
  await vi.advanceTimersByTimeAsync(10)
  abort.abort()
  expect(await waiting).toMatchObject({ ok: false, failure: { remedy: 'cancelled', code: 'CANCELLED' } })
  await all([first])
  expect(slow.starts).toHaveLength(1)

  const pace = { retryAfterMs: 60_000, limit: null }
  const paused = through(gate, 'delete', () => failed('delete', 'later', 'RATE_LIMITED', 429, pace))
  const again = new AbortController()
  const outcome = paused.pass(again.signal)
  await vi.advanceTimersByTimeAsync(100)
  again.abort()
  await vi.advanceTimersByTimeAsync(10)
  expect(await outcome).toMatchObject({ ok: false, failure: { remedy: 'cancelled' } })
  expect(paused.starts).toHaveLength(1)
})

test('an error of our own passes through and leaves nothing taken', async () => {
  const gate = gateOf({ requestsPerSecond: { ...REQUESTS_PER_SECOND, list: 1 }, concurrency: 1 })
  const bug = gate.pass('list', never, async () => {
    throw new Error('a bug')
  })
  const caught = expect(bug).rejects.toThrow('a bug')
  await vi.runAllTimersAsync()
  await caught
  const before = clock.now()
  const { starts, pass } = through(gate, 'list', succeeded)
  await all([pass()])
  expect(starts[0]! - before).toBeLessThan(WINDOW_MS)
})

test('every request is told of, with what came of it', async () => {
  const events: RequestEvent[] = []
  const gate = gateOf({ onRequest: event => events.push(event) })
  const answers = [refused('list'), failed('list', 'gone', 'NOT_FOUND', 404)]
  await all([through(gate, 'list', () => answers.shift()!, 40).pass()])
  expect(events).toEqual([
    { endpoint: 'list', status: null, code: 'HOST_UNREACHABLE', ms: 40 },
    { endpoint: 'list', status: 404, code: 'NOT_FOUND', ms: 40 },
  ])
})

test('closing waits for what is queued and takes nothing more', async () => {
  const gate = gateOf({ concurrency: 1 })
  const { starts, pass } = through(gate, 'list', succeeded, 1000)
  const work = times(3, pass)
  const closed = gate.close()
  await vi.runAllTimersAsync()
  await closed
  expect(starts).toHaveLength(3)
  await Promise.all(work)
  await expect(pass()).rejects.toThrow()
})
