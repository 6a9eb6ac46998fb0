import { expect, onTestFinished, test, vi } from 'vitest'
import { ENDPOINTS } from '../../../src/protocol/endpoints.ts'
import { REQUESTS_PER_SECOND } from '../../../src/protocol/limits.ts'
import type { RequestEvent } from '../../../src/remote/gate/gate.ts'
import { WINDOW_MS } from '../../../src/remote/gate/rate-window.ts'
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

test('a cancelled request leaves the queue, and a pause, at once', async () => {
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

test('an error that `send` throws passes through, and its place in the window is given back', async () => {
  const gate = gateOf({ requestsPerSecond: { ...REQUESTS_PER_SECOND, list: 1 }, concurrency: 1 })
  const bug = gate.pass('list', never, async () => {
    throw new Error('a bug')
  })
  const caught = expect(bug).rejects.toThrow('a bug')
  await vi.runAllTimersAsync()
  await caught
  const before = clock.monotonic()
  const { starts, pass } = through(gate, 'list', succeeded)
  await all([pass()])
  expect(starts[0]! - before).toBeLessThan(WINDOW_MS)
})

test('onRequest is called for every request, with its result', async () => {
  const events: RequestEvent[] = []
  const gate = gateOf({ onRequest: event => events.push(event) })
  const answers = [refused('list'), failed('list', 'gone', 'NOT_FOUND', 404)]
  await all([through(gate, 'list', () => answers.shift()!, 40).pass()])
  expect(events).toEqual([
    { endpoint: 'list', status: null, code: 'HOST_UNREACHABLE', ms: 40 },
    { endpoint: 'list', status: 404, code: 'NOT_FOUND', ms: 40 },
  ])
})

test('closing waits for queued requests and takes no new ones', async () => {
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

// With many requests, because an endpoint's first answers do not show yet how quick the host is, and so cost time.
test('all endpoints at once reach 97 % of their rates, even when answers take long', async () => {
  const gate = gateOf({ concurrency: 4 })
  const lanes = ENDPOINTS.map(endpoint => ({ endpoint, ...through(gate, endpoint, succeeded, 300) }))
  await all(lanes.flatMap(({ pass }) => times(461, pass)))
  for (const { endpoint, starts } of lanes) {
    const limit = REQUESTS_PER_SECOND[endpoint]
    for (let i = limit; i < starts.length; i++) expect(starts[i]! - starts[i - limit]!).toBeGreaterThan(1000)
    const seconds = (starts.at(-1)! - starts[0]!) / 1000
    expect((starts.length - 1) / seconds / limit).toBeGreaterThan(0.97)
  }
})

test("setting the machine's clock changes nothing", async () => {
  const steps = [-86_400_000, 3_600_000, 31_536_000_000, -1000]
  let asked = 0
  const wall = vi.spyOn(Date, 'now').mockImplementation(() => 1_795_262_400_000 + steps[asked++ % 4]!)
  onTestFinished(() => wall.mockRestore())
  const { starts, pass } = through(gateOf(), 'list', succeeded)
  await all(times(60, pass))
  for (let i = 10; i < starts.length; i++) expect(starts[i]! - starts[i - 10]!).toBeGreaterThan(1000)
  expect(starts[59]! - starts[0]!).toBeLessThan(5 * 1010)
})

test('endpoints do not wait for each other', async () => {
  const gate = gateOf()
  const slow = through(gate, 'delete', succeeded)
  const quick = through(gate, 'create_album', succeeded)
  await all([...times(6, slow.pass), ...times(5, quick.pass)])
  expect(slow.starts[5]! - slow.starts[0]!).toBeGreaterThan(2000)
  expect(quick.starts[4]! - quick.starts[0]!).toBeLessThan(100)
})

test('a process goes on with what the one before has left of the second', async () => {
  const before = gateOf()
  await all(times(1, through(before, 'delete', succeeded).pass))
  const now = clock.monotonic()
  const { starts, pass } = through(gateOf({ earlier: before.recent() }), 'delete', succeeded)
  await all(times(2, pass))
  expect(starts[0]! - now).toBeLessThan(WINDOW_MS / 2)
  expect(starts[1]! - now).toBeGreaterThanOrEqual(WINDOW_MS / 2)
})

test('requests of the process before fill the window', async () => {
  const now = clock.monotonic()
  const { starts, pass } = through(gateOf({ earlier: now - 50 }), 'delete', succeeded)
  await all(times(1, pass))
  expect(starts[0]! - now).toBeGreaterThanOrEqual(WINDOW_MS - 50)
})

test('a request that could not leave before its place was over takes another place', async () => {
  const places: number[] = []
  let released = 0
  const take = () => {
    const at = clock.monotonic()
    places.push(at)
    return {
      isOver: (now: number) => now - at > 10_000,
      start() {},
      answered() {},
      release: () => void released++,
    }
  }
  const windowOf = () => ({ recent: () => [], waitMs: () => 0, adopt() {}, take })
  const left: number[] = []
  // The process is stopped while the first request connects.
  const send = async (started: () => void) => {
    await clock.sleep(places.length === 1 ? 40_000 : 100, never)
    started()
    left.push(clock.monotonic())
    return succeeded()
  }
  const [outcome] = await all([gateOf({ windowOf }).pass('upload', never, send)])
  expect(outcome).toEqual({ ok: true, value: 'done' })
  expect(left.map(at => at - places[0]!)).toEqual([40_100])
  expect([places.length, released]).toEqual([2, 2])
})

test('a failure says whether the host served others between its tries', async () => {
  const ofOne = () => failed('upload', 'later', 'INTERNAL', 500)
  const gate = gateOf()
  const [bad, ...others] = await all([
    through(gate, 'upload', ofOne).pass(),
    ...times(20, through(gate, 'upload', succeeded, 100).pass),
  ])
  expect(others.every(outcome => outcome.ok)).toBe(true)
  expect(bad).toMatchObject({ ok: false, failure: { code: 'INTERNAL', othersServed: true } })

  const down = gateOf()
  for (const outcome of await all(times(9, through(down, 'upload', ofOne, 50).pass))) {
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'INTERNAL' } })
    expect(outcome).not.toHaveProperty('failure.othersServed')
  }
})

test('a host without a free upload node is no outage while a node takes another upload', async () => {
  const gate = gateOf()
  const full = through(gate, 'upload', () => failed('upload', 'later', 'NO_AVAILABLE_IO_NODE', 503), 100)
  const [sent, ...refused] = await all([
    through(gate, 'send', succeeded, 5000).pass(),
    ...times(3, full.pass),
  ])
  expect(sent).toMatchObject({ ok: true })
  for (const outcome of refused) expect(outcome).toMatchObject({ ok: false, failure: { remedy: 'give_way' } })
  expect(full.starts).toHaveLength(3)

  const [alone] = await all([full.pass()])
  expect(alone).toMatchObject({ ok: false, failure: { remedy: 'later' } })
  expect(full.starts).toHaveLength(7)
})
