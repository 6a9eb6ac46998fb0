import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { Endpoint } from '../../../src/protocol/endpoints.ts'
import type { AskedWait, Attempt } from '../../../src/remote/gate/gate.ts'
import { backoffMs } from '../../../src/remote/gate/outage.ts'
import type { HostFailure } from '../../../src/remote/host.ts'
import { codeOf } from '../../../src/words/reasons.ts'
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

test('mayGo is asked before each try', async () => {
  const asked: number[] = []
  const sent: number[] = []
  const work = gateOf().pass(
    'delete',
    never,
    async started => {
      started()
      sent.push(clock.monotonic())
      return failed('delete', 'later', 'RATE_LIMITED', 429)
    },
    () => asked.push(clock.monotonic()) < 3,
  )
  const [outcome] = await all([work])
  expect(asked).toHaveLength(3)
  expect(sent).toEqual(asked.slice(0, 2))
  // The host said that none of the tries was carried out.
  expect(outcome).toMatchObject({ ok: false, failure: { remedy: 'cancelled' } })
  expect(outcome).not.toHaveProperty('failure.mayBeDone')
})

test('after a try that may have been carried out, a refused second try is no proof that nothing was done', async () => {
  const answers = [refused('delete'), failed('delete', 'not_permitted', 'FORBIDDEN', 403)]
  const [outcome] = await all([through(gateOf(), 'delete', () => answers.shift()!).pass()])
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'FORBIDDEN', mayBeDone: true } })
})

test('after a 429 all requests wait as long as the host asks, and then one of them goes first', async () => {
  const pace = { retryAfterMs: 5000, limit: null }
  let answered = 0
  const { starts, pass } = through(
    gateOf({ concurrency: 4 }),
    'list',
    () => (answered++ < 4 ? failed('list', 'later', 'RATE_LIMITED', 429, pace) : succeeded()),
    700,
  )
  const outcomes = await all(times(4, pass))
  expect(outcomes.every(({ ok }) => ok)).toBe(true)
  const [ahead, ...others] = starts.slice(4)
  expect(ahead! - starts[0]!).toBeGreaterThanOrEqual(5000)
  for (const other of others) expect(other - ahead!).toBeGreaterThanOrEqual(700)
})

test('the success of a request that was sent before a 429 does not end the wait', async () => {
  const gate = gateOf()
  const pace = { retryAfterMs: 5000, limit: null }
  const slow = through(gate, 'list', succeeded, 300)
  const answers = [failed('list', 'later', 'RATE_LIMITED', 429, pace), succeeded(), succeeded()]
  const limited = through(gate, 'list', () => answers.shift()!)
  const before = [slow.pass(), limited.pass()]
  await vi.advanceTimersByTimeAsync(400)
  await all([...before, limited.pass()])
  for (const start of limited.starts.slice(1)) expect(start - limited.starts[0]!).toBeGreaterThanOrEqual(5000)
})

test.each<[string, Endpoint, Attempt<string>]>([
  [
    'a request that may have been carried out',
    'create_album',
    failed('create_album', 'find_out', 'HOST_ANSWER', 502),
  ],
  ['a picture whose last byte never left', 'send', failed('send', 'new_credential', 'HOST_UNREACHABLE')],
  [
    'the deletion of one image that the host can not delete now',
    'delete',
    failed('delete', 'later', 'DELETE_FAILED', 500),
  ],
  [
    'a request that the host understood and refused',
    'upload',
    failed('upload', 'change_request', 'INVALID_PARAMS', 400),
  ],
])('%s is not sent again', async (_, endpoint, answer) => {
  const { starts, pass } = through(gateOf(), endpoint, () => answer)
  await all([pass()])
  expect(starts).toHaveLength(1)
})

test('a delay is never more than its limit, and never less than the host asked for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.option(fc.double({ min: 0, noNaN: true }), { nil: null }),
      (failures, random, asked) => {
        const wait = backoffMs(failures, asked, { random: () => random, maxDelayMs: 2000 })
        expect(wait).toBeGreaterThanOrEqual(asked ?? 0)
        expect(wait).toBeLessThanOrEqual(Math.max(2000, asked ?? 0))
      },
    ),
  )
})

test('delays double with each failure, with full jitter', () => {
  const at = (failures: number, random: number) =>
    backoffMs(failures, null, { random: () => random, maxDelayMs: 300_000 })
  expect([1, 2, 3, 4].map(failures => at(failures, 1))).toEqual([250, 500, 1000, 2000])
  expect(at(4, 0)).toBe(0)
  expect(at(4, 0.5)).toBe(1000)
})

test('a long Retry-After is kept over a restart, also where the clock was set back', async () => {
  const minutes = 60_000
  let now = 1_800_000_000_000
  const wall = () => now + clock.monotonic()
  const waits: AskedWait[] = []
  const pace = { retryAfterMs: 30 * minutes, limit: null }
  const before = gateOf({ wall, onLongWait: wait => waits.push(wait) })
  await all([through(before, 'list', () => failed('list', 'later', 'RATE_LIMITED', 429, pace)).pass()])
  for (const setBackMs of [0, 24 * 60 * minutes]) {
    now -= setBackMs
    const gate = gateOf({ wall, waits })
    const { starts, pass } = through(gate, 'list', () => succeeded())
    const uploads = through(gate, 'upload', () => succeeded())
    const [outcome] = await all([pass(), uploads.pass()])
    const { code, message } = waits[0]!.failure
    expect(outcome).toMatchObject({ ok: false, failure: { code, message, unsent: true } })
    expect([starts.length, uploads.starts.length]).toEqual([0, 1])
    if (setBackMs > 0) await vi.advanceTimersByTimeAsync(30 * minutes)
  }
  now += 24 * 60 * minutes
  const later = through(gateOf({ wall, waits }), 'list', () => succeeded())
  expect(await all([later.pass()])).toMatchObject([{ ok: true }])
})

test('a long Retry-After is kept in full, and requests are answered with its end meanwhile', async () => {
  const minutes = 60_000
  const wall = () => 1_800_000_000_000 + clock.monotonic()
  const gate = gateOf({ wall })
  const pace = { retryAfterMs: 30 * minutes, limit: null }
  const answers = [failed('list', 'later', 'NO_AVAILABLE_IO_NODE', 503, pace), succeeded()]
  const { starts, pass } = through(gate, 'list', () => answers.shift()!)
  const began = wall()
  const [first] = await all([pass()])
  const [second] = await all([pass()])
  for (const outcome of [first, second]) {
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'NO_AVAILABLE_IO_NODE' } })
    const { message } = (outcome as { failure: HostFailure }).failure
    expect(codeOf(message)).toBe('asked_to_wait')
    expect(JSON.parse(message as unknown as string)[1].until).toBeCloseTo(began + 30 * minutes, -3)
  }
  expect(starts).toHaveLength(1)
  // Somebody may ask to try at once, and what another endpoint answers says nothing of this one.
  gate.unblock('list')
  await all([pass()])
  expect(starts).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(30 * minutes)
  expect(await all([pass()])).toMatchObject([{ ok: true }])
})
