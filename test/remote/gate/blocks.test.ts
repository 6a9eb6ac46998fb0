import { expect, test, vi } from 'vitest'
import { said } from '../../../src/words/reasons.ts'
import { all, clock, failed, gateOf, holdTime, refused, succeeded, through } from './gate-stage.ts'

holdTime()

test('an endpoint outside the plan is not asked again until it is unblocked', async () => {
  const gate = gateOf()
  let plan = false
  const { starts, pass } = through(gate, 'delete', () =>
    plan ? succeeded() : failed('delete', 'plan', 'PLAN_NOT_SUPPORTED', 403),
  )
  await all([pass()])
  const [second] = await all([pass()])
  expect(second).toMatchObject({ ok: false, failure: { code: 'PLAN_NOT_SUPPORTED', endpoint: 'delete' } })
  expect(starts).toHaveLength(1)
  expect(gate.blocks()).toMatchObject([{ endpoint: 'delete', code: 'PLAN_NOT_SUPPORTED' }])
  plan = true
  gate.unblock('delete')
  const [third] = await all([pass()])
  expect(third).toMatchObject({ ok: true })
  expect(gate.blocks()).toEqual([])
})

test('what was unblocked is listed as untried until an answer comes', async () => {
  const gate = gateOf()
  const refuse = () => failed('delete', 'plan', 'PLAN_NOT_SUPPORTED', 403)
  await all([through(gate, 'delete', refuse).pass()])
  gate.unblock('delete')
  expect(gate.blocks()).toEqual([])
  expect(gate.blocks('untried')).toMatchObject([{ endpoint: 'delete', code: 'PLAN_NOT_SUPPORTED' }])
  await all([
    through(gate, 'list', succeeded).pass(),
    through(gate, 'delete', () => refused('delete')).pass(),
  ])
  expect(gate.blocks('untried')).toHaveLength(1)
  gate.unblock('delete')
  await all([through(gate, 'delete', refuse).pass()])
  expect(gate.blocks()).toHaveLength(1)
  gate.unblock('delete')
  await all([through(gate, 'delete', () => failed('delete', 'gone', 'NOT_FOUND', 404)).pass()])
  expect(gate.blocks('untried')).toEqual([])
})

test('a refused key that was unblocked is listed as untried until the key is accepted or refused again', async () => {
  const gate = gateOf()
  const refuse = () => failed('list', 'key', 'INVALID_API_KEY', 401)
  await all([through(gate, 'list', refuse).pass()])
  const [before] = gate.blocks()
  gate.unblock('list')
  await all([through(gate, 'send', succeeded).pass()])
  expect(gate.blocks('untried')).toEqual([before])
  await all([through(gate, 'list', refuse).pass()])
  const [after] = gate.blocks()
  expect(after!.since).toBeGreaterThan(before!.since)
  gate.unblock('list')
  await all([through(gate, 'upload', succeeded).pass()])
  expect(gate.blocks('untried')).toEqual([])
})

test('a key that an earlier process saw refused is tried with the next request', async () => {
  const key = { endpoint: 'upload', remedy: 'key', code: 'INVALID_API_KEY', message: said('no') } as const
  const gate = gateOf({ blocks: [{ ...key, since: 5 }] })
  expect(gate.blocks()).toEqual([])
  expect(gate.blocks('untried')).toEqual([{ ...key, since: 5 }])
  const { starts, pass } = through(gate, 'list', succeeded)
  await all([pass()])
  expect(starts).toHaveLength(1)
  expect(gate.blocks('untried')).toEqual([])
})

test('unblocking ends the wait of an outage at once, but not a wait that the host asked for', async () => {
  const gate = gateOf({ patience: { attempts: 2, maxDelayMs: 300_000 } })
  let away = true
  const list = through(gate, 'list', () => (away ? refused('list') : succeeded()))
  await all([list.pass()])
  await all([list.pass()])
  expect(list.starts).toHaveLength(2)
  gate.unblock('list')
  await all([list.pass()])
  expect(list.starts).toHaveLength(3)
  away = false
  gate.unblock('list')
  expect(await all([list.pass()])).toMatchObject([{ ok: true }])

  const pace = { retryAfterMs: 30_000, limit: null }
  const upload = through(gate, 'upload', () => failed('upload', 'later', 'RATE_LIMITED', 429, pace))
  await all([upload.pass()])
  gate.unblock('upload')
  await all([upload.pass()])
  expect(upload.starts).toHaveLength(2)
})

test.each([
  [503, 'HOST_ANSWER', 1],
  [429, 'RATE_LIMITED', 30_000],
])('a person ends the wait after %i %s, where it is no matter of the rate', async (status, code, ms) => {
  const gate = gateOf()
  let busy = true
  const pace = { retryAfterMs: 30_000, limit: null }
  const list = through(gate, 'list', () => (busy ? failed('list', 'later', code, status, pace) : succeeded()))
  const sleeping = list.pass()
  await vi.advanceTimersByTimeAsync(100)
  busy = false
  const asked = clock.monotonic()
  gate.askNow()
  expect(await all([sleeping])).toMatchObject([{ ok: true }])
  expect(list.starts[1]! - asked).toBeCloseTo(ms, -3)
})

test('a refused key blocks all endpoints that need it, but not sending with a credential', async () => {
  const gate = gateOf()
  await all([through(gate, 'list', () => failed('list', 'key', 'INVALID_API_KEY', 401)).pass()])
  for (const endpoint of ['upload', 'list', 'delete', 'create_album'] as const) {
    const other = through(gate, endpoint, succeeded)
    const [outcome] = await all([other.pass()])
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'INVALID_API_KEY', endpoint } })
    expect(other.starts).toEqual([])
  }
  const [sent] = await all([through(gate, 'send', succeeded).pass()])
  expect(sent).toMatchObject({ ok: true })
  expect(gate.blocks()).toHaveLength(1)
})

test('a used-up quota blocks requests for credentials, whether the host or an upload node said so', async () => {
  for (const endpoint of ['upload', 'send'] as const) {
    const gate = gateOf()
    await all([through(gate, endpoint, () => failed(endpoint, 'quota', 'DAILY_LIMIT_REACHED', 429)).pass()])
    const upload = through(gate, 'upload', succeeded)
    const [outcome] = await all([upload.pass()])
    expect(outcome).toMatchObject({ ok: false, failure: { remedy: 'quota', endpoint: 'upload' } })
    expect(upload.starts).toEqual([])
    expect(gate.blocks()).toMatchObject([{ endpoint: 'upload', remedy: 'quota' }])
  }
})
