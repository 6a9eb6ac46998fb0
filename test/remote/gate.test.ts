import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { ENDPOINTS, type Endpoint } from '../../src/protocol/endpoints.ts'
import { REQUESTS_PER_SECOND } from '../../src/protocol/limits.ts'
import type { Clock } from '../../src/remote/clock.ts'
import {
  type Attempt,
  type Gate,
  type GateOptions,
  openGate,
  type RequestEvent,
} from '../../src/remote/gate.ts'
import type { HostFailure, Remedy } from '../../src/remote/host.ts'
import { NO_PACE, type Pace } from '../../src/remote/rate-headers.ts'
import { WINDOW_MS } from '../../src/remote/rate-window.ts'

const HOUR = 3_600_000
const never = new AbortController().signal

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
})

/** On vitest's timers, which stand still until a test moves them. */
const clock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise(resolve => {
      setTimeout(resolve, ms)
      signal.addEventListener('abort', () => resolve())
    }),
}

function gateOf(options: Partial<GateOptions> = {}): Gate {
  return openGate({
    requestsPerSecond: REQUESTS_PER_SECOND,
    concurrency: 8,
    patience: { attempts: 4, maxDelayMs: 2000 },
    clock,
    random: () => 1,
    ledger: { load: () => [], record: () => {} },
    onRequest: () => {},
    ...options,
  })
}

function succeeded(): Attempt<string> {
  return { outcome: { ok: true, value: 'done' }, status: 200, pace: NO_PACE }
}

function failed(
  endpoint: Endpoint,
  remedy: Remedy,
  code: string,
  status?: number,
  pace: Pace = NO_PACE,
): Attempt<string> {
  const failure: HostFailure = {
    remedy,
    endpoint,
    code,
    message: code,
    ...(status !== undefined && { status }),
  }
  return { outcome: { ok: false, failure }, status: status ?? null, pace }
}

const refused = (endpoint: Endpoint) => failed(endpoint, 'later', 'HOST_UNREACHABLE')

/** Passes requests through the gate; `answer` is given the time on the clock. Tells when each left. */
function through(gate: Gate, endpoint: Endpoint, answer: (now: number) => Attempt<string>, takesMs = 1) {
  const starts: number[] = []
  const pass = (signal = never) =>
    gate.pass(endpoint, signal, async started => {
      started()
      starts.push(clock.now())
      await clock.sleep(takesMs, never)
      return answer(clock.now())
    })
  return { starts, pass }
}

const all = async <T>(work: Promise<T>[]): Promise<T[]> => {
  const results = Promise.all(work)
  await vi.runAllTimersAsync()
  return results
}

const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)

test('a sliding second never sees more requests than the limit, and all of it is used', async () => {
  const { starts, pass } = through(gateOf(), 'list', succeeded)
  await all(times(60, pass))
  for (let i = 10; i < starts.length; i++) expect(starts[i]! - starts[i - 10]!).toBeGreaterThan(1000)
  expect(starts[59]! - starts[0]!).toBeLessThan(5 * 1010)
})

test('all endpoints at once get 97 % of what each may have, also where answers take long', async () => {
  const gate = gateOf({ concurrency: 16 })
  const lanes = ENDPOINTS.map(endpoint => ({ endpoint, ...through(gate, endpoint, succeeded, 300) }))
  await all(lanes.flatMap(({ endpoint, pass }) => times(REQUESTS_PER_SECOND[endpoint] * 8 + 1, pass)))
  for (const { endpoint, starts } of lanes) {
    const limit = REQUESTS_PER_SECOND[endpoint]
    for (let i = limit; i < starts.length; i++) expect(starts[i]! - starts[i - limit]!).toBeGreaterThan(1000)
    const seconds = (starts.at(-1)! - starts[0]!) / 1000
    expect((starts.length - 1) / seconds / limit).toBeGreaterThan(0.97)
  }
})

test("steps of the machine's clock change nothing", async () => {
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

test('no more requests are under way at one endpoint than the concurrency allows', async () => {
  const gate = gateOf({ concurrency: 3 })
  let underWay = 0
  let most = 0
  const pass = () =>
    gate.pass('list', never, async started => {
      started()
      most = Math.max(most, ++underWay)
      await clock.sleep(500, never)
      underWay--
      return succeeded()
    })
  await all(times(12, pass))
  expect(most).toBe(3)
})

test('each try asks whether it may still go', async () => {
  const asked: number[] = []
  const sent: number[] = []
  const work = gateOf().pass(
    'delete',
    never,
    async started => {
      started()
      sent.push(clock.now())
      return failed('delete', 'later', 'RATE_LIMITED', 429)
    },
    () => asked.push(clock.now()) < 3,
  )
  const [outcome] = await all([work])
  expect(asked).toHaveLength(3)
  expect(sent).toEqual(asked.slice(0, 2))
  // The host's own word is that none of them was done.
  expect(outcome).toMatchObject({ ok: false, failure: { remedy: 'cancelled' } })
  expect(outcome).not.toHaveProperty('failure.mayBeDone')
})

test('after a try that may have been done, the refusal of another does not say that nothing was', async () => {
  const answers = [refused('delete'), failed('delete', 'not_permitted', 'FORBIDDEN', 403)]
  const [outcome] = await all([through(gateOf(), 'delete', () => answers.shift()!).pass()])
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'FORBIDDEN', mayBeDone: true } })
})

test('starts from before a restart count, and every start is recorded before the request leaves', async () => {
  const recorded: number[] = []
  const now = clock.now()
  const gate = gateOf({
    ledger: {
      load: endpoint => (endpoint === 'delete' ? [now - 100, now - 50] : []),
      record: (_, start) => recorded.push(start),
    },
  })
  const { starts, pass } = through(gate, 'delete', () => {
    expect(recorded).toHaveLength(starts.length)
    return succeeded()
  })
  await all(times(3, pass))
  expect(starts[0]! - now).toBeGreaterThanOrEqual(WINDOW_MS - 100)
  expect(recorded).toEqual(starts)
})

test('a lower limit in an answer is kept to from then on', async () => {
  const pace = { retryAfterMs: null, limit: 2 }
  const { starts, pass } = through(gateOf({ concurrency: 1 }), 'list', () => ({ ...succeeded(), pace }))
  await all(times(8, pass))
  for (let i = 3; i < starts.length; i++) expect(starts[i]! - starts[i - 2]!).toBeGreaterThan(1000)
})

test('after a 429 all requests wait as long as the host asks, and then one goes ahead of the others', async () => {
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

test('the success of a request from before a 429 does not end the wait that the host asked for', async () => {
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

test('a 429 without headers is waited out for a second', async () => {
  const answers = [failed('list', 'later', 'RATE_LIMITED', 429), succeeded()]
  const { starts, pass } = through(gateOf({ random: () => 0 }), 'list', () => answers.shift()!)
  await all([pass()])
  expect(starts[1]! - starts[0]!).toBeGreaterThanOrEqual(WINDOW_MS)
})

test('an outage of hours costs few requests, and the work goes on by itself afterwards', async () => {
  const gate = gateOf({ patience: { attempts: Number.POSITIVE_INFINITY, maxDelayMs: 300_000 } })
  const end = clock.now() + 4 * HOUR
  const { starts, pass } = through(gate, 'list', now => (now < end ? refused('list') : succeeded()))
  const outcomes = await all(times(30, pass))
  expect(outcomes.every(({ ok }) => ok)).toBe(true)
  expect(starts.filter(start => start < end).length).toBeLessThan(80)
})

test('requests give up when the trouble outlasts their patience', async () => {
  const { starts, pass } = through(gateOf(), 'list', () => refused('list'))
  const [outcome] = await all([pass()])
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'HOST_UNREACHABLE' } })
  expect(starts).toHaveLength(4)
})

test.each<[string, Endpoint, Attempt<string>]>([
  ['what may have been done', 'create_album', failed('create_album', 'find_out', 'HOST_ANSWER', 502)],
  ['a picture whose last byte never left', 'send', failed('send', 'new_credential', 'HOST_UNREACHABLE')],
  ['one image that can not be deleted now', 'delete', failed('delete', 'later', 'DELETE_FAILED', 500)],
  [
    'what the host understood and refused',
    'upload',
    failed('upload', 'change_request', 'INVALID_PARAMS', 400),
  ],
])('%s is not asked again', async (_, endpoint, answer) => {
  const { starts, pass } = through(gateOf(), endpoint, () => answer)
  await all([pass()])
  expect(starts).toHaveLength(1)
})

test('no credential is asked for while upload nodes are in trouble', async () => {
  const gate = gateOf({ patience: { attempts: 4, maxDelayMs: 60_000 } })
  const pace = { retryAfterMs: 30_000, limit: null }
  const send = through(gate, 'send', () => failed('send', 'find_out', 'HOST_ANSWER', 503, pace))
  const upload = through(gate, 'upload', succeeded)
  const sent = send.pass()
  await vi.advanceTimersByTimeAsync(10)
  await all([sent, upload.pass()])
  expect(upload.starts[0]! - send.starts[0]!).toBeGreaterThanOrEqual(30_000)
})

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

test('a lasting outage is asked about at once where a person says so, and a wait that the host asked for is kept', async () => {
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

test('a refused key shuts all endpoints that ask for it, and leaves credentials in hand alone', async () => {
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

test('a used-up quota stops requests for credentials, wherever the host said so', async () => {
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
