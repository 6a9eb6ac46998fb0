import { beforeEach, expect, test } from 'vitest'
import { ENDPOINTS, type Endpoint } from '../../../src/protocol/endpoints.ts'
import { type Attempt, type Gate, openGate } from '../../../src/remote/gate/gate.ts'
import { NO_PACE } from '../../../src/remote/gate/rate-window.ts'
import type { HostFailure } from '../../../src/remote/host.ts'
import { said } from '../../../src/words/reasons.ts'
import { never } from '../client-of.ts'
import { VirtualTime } from '../line/virtual-time.ts'

const MANY = Number.POSITIVE_INFINITY
const MINUTE = 60_000
const HOUR = 60 * MINUTE

let time: VirtualTime
/** The requests that were sent. */
let sent: { endpoint: Endpoint; at: number }[]
/** The failure that an endpoint answers with at that moment; null: a success. */
let fault: (endpoint: Endpoint, now: number) => Omit<HostFailure, 'endpoint'> | null

beforeEach(() => {
  time = new VirtualTime()
  sent = []
})

const unreachable = { remedy: 'later', code: 'HOST_UNREACHABLE', message: said('nobody is there') } as const
const html502 = { remedy: 'later', code: 'HOST_ANSWER', message: said('502'), status: 502 } as const

/** A gate with the daemon's patience. */
function daemonsGate(seed = 1): Gate {
  let state = seed
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return openGate({
    // Without limits there is no Bottleneck, which has timers of its own.
    requestsPerSecond: { upload: MANY, send: MANY, list: MANY, delete: MANY, create_album: MANY },
    concurrency: 8,
    patience: { attempts: 4, maxDelayMs: 300_000 },
    clock: time.clock,
    random,
  })
}

async function ask(gate: Gate, endpoint: Endpoint): Promise<boolean> {
  const outcome = await gate.pass<string>(endpoint, never, async (started): Promise<Attempt<string>> => {
    started()
    sent.push({ endpoint, at: time.clock.monotonic() })
    await time.clock.sleep(20, never)
    const failure = fault(endpoint, time.clock.monotonic())
    if (!failure) return { outcome: { ok: true, value: 'done' }, status: 200, pace: NO_PACE }
    return {
      outcome: { ok: false, failure: { ...failure, endpoint } },
      status: failure.status ?? null,
      pace: NO_PACE,
    }
  })
  return outcome.ok
}

/** The requests of a daemon with a backlog: each minute eight uploads at once and one request to each other endpoint. */
async function passes(gate: Gate, until: number, endpoints: readonly Endpoint[]): Promise<number[]> {
  const successes: number[] = []
  while (time.clock.monotonic() < until) {
    for (const endpoint of endpoints) {
      const asked = Array.from({ length: endpoint === 'upload' ? 8 : 1 }, () => ask(gate, endpoint))
      if ((await Promise.all(asked)).some(ok => ok)) successes.push(time.clock.monotonic())
    }
    await time.clock.sleep(MINUTE, never)
  }
  return successes
}

const below = ENDPOINTS.filter(endpoint => endpoint !== 'send')

test.each([
  ['unreachable', unreachable],
  ['behind a gateway that answers 502', html502],
])(
  'a host that is %s for four hours gets one request in some minutes, from all endpoints together',
  async (_, failure) => {
    const gate = daemonsGate()
    const began = time.clock.monotonic()
    const back = began + 4 * HOUR
    fault = (_endpoint, now) => (now < back ? failure : null)
    const [successes] = await time.all([passes(gate, back + 10 * MINUTE, below)])
    const during = sent.filter(({ at }) => at < back)
    const inEachHour = [0, 1, 2, 3].map(
      hour => during.filter(({ at }) => Math.floor((at - began) / HOUR) === hour).length,
    )
    expect(Math.max(...inEachHour)).toBeLessThanOrEqual(40)
    expect(Math.max(...inEachHour.slice(1))).toBeLessThanOrEqual(30)
    expect(Math.min(...inEachHour)).toBeGreaterThanOrEqual(12)
    // Then the work goes on by itself, at all endpoints.
    expect(successes![0]! - back).toBeLessThan(7 * MINUTE)
    expect(new Set(sent.filter(({ at }) => at > back).map(({ endpoint }) => endpoint))).toEqual(
      new Set(below),
    )
  },
)

test('when the host is back, no endpoint waits for its own next probe', async () => {
  const gate = daemonsGate()
  const back = time.clock.monotonic() + HOUR
  fault = (_endpoint, now) => (now < back ? unreachable : null)
  await time.all([passes(gate, back, below)])
  sent = []
  const first = async () => {
    while (!(await ask(gate, 'list'))) await time.clock.sleep(1000, never)
    return Promise.all(below.map(endpoint => ask(gate, endpoint)))
  }
  const [answered] = await time.all([first()])
  expect(answered).toEqual(below.map(() => true))
})

test('waiting requests are answered once the outage lasts, and no more were sent than its attempts', async () => {
  const gate = daemonsGate()
  fault = () => unreachable
  const first = ask(gate, 'upload')
  await time.all([time.clock.sleep(21, never)])
  const others = Array.from({ length: 50 }, () => ask(gate, 'upload'))
  expect(await time.all([first, ...others])).toEqual(Array(51).fill(false))
  expect(sent).toHaveLength(4)
})

test('a broken endpoint does not stop the others', async () => {
  const gate = daemonsGate()
  fault = endpoint => (endpoint === 'list' ? html502 : null)
  const began = time.clock.monotonic()
  await time.all([passes(gate, began + 2 * HOUR, ['list', 'upload', 'delete'])])
  const to = (endpoint: Endpoint) => sent.filter(request => request.endpoint === endpoint).length
  expect(to('delete')).toBeGreaterThan(90)
  expect(to('upload')).toBeGreaterThan(700)
  expect(to('list')).toBeLessThan(90)
})

test('during an outage of the upload nodes few credentials are asked for, because each costs quota', async () => {
  const gate = daemonsGate()
  fault = endpoint =>
    endpoint === 'send'
      ? { remedy: 'new_credential', code: 'HOST_UNREACHABLE', message: said('no node') }
      : null
  const began = time.clock.monotonic()
  const worker = async () => {
    while (time.clock.monotonic() < began + 2 * HOUR) {
      if (await ask(gate, 'upload')) await ask(gate, 'send')
      else await time.clock.sleep(MINUTE, never)
    }
  }
  await time.all(Array.from({ length: 8 }, worker))
  const credentials = sent.filter(({ endpoint }) => endpoint === 'upload')
  expect(credentials.length).toBeLessThan(100)
  expect(credentials.filter(({ at }) => at > began + HOUR).length).toBeLessThan(40)
})
