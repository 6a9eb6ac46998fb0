import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostInASecond } from '../../../bench/measure/statistics.ts'
import { paceOf, RateWindow, WINDOW_MS } from '../../../src/remote/gate/rate-window.ts'

interface Request {
  /** All in milliseconds. `at`: when it is made; the others: how long each following step takes. */
  at: number
  connecting: number
  travelling: number
  answering: number
}

/** Sends the requests through the window. Returns the times at which they reached the host. */
function arrivalsOf(window: RateWindow, requests: Request[]): number[] {
  const arrivals: number[] = []
  const events: { at: number; happen: () => void }[] = []
  const settle = (now: number) => {
    for (;;) {
      events.sort((a, b) => b.at - a.at)
      if (events.length === 0 || events.at(-1)!.at > now) return
      events.pop()!.happen()
    }
  }
  let now = 0
  for (const { at, connecting, travelling, answering } of requests) {
    now = Math.max(now, at)
    settle(now)
    for (let wait = window.waitMs(now); wait > 0; wait = window.waitMs(now)) {
      now += wait
      settle(now)
    }
    const slot = window.take()
    const start = now + connecting
    const arrival = start + travelling
    events.push({ at: start, happen: () => slot.start(start) })
    events.push({ at: arrival, happen: () => arrivals.push(arrival) })
    events.push({ at: arrival + answering, happen: () => slot.answered(arrival + answering) })
  }
  settle(Number.POSITIVE_INFINITY)
  return arrivals
}

/** Requests of which each takes so long to travel. */
function requestsThat(travelling: fc.Arbitrary<number>): fc.Arbitrary<Request[]> {
  const request = fc.record({
    after: fc.nat(400),
    connecting: fc.oneof(fc.constant(0), fc.nat(3000)),
    travelling,
    answering: fc.oneof(fc.nat(5), fc.nat(3000)),
  })
  return fc.array(request, { maxLength: 60 }).map(gaps => {
    let at = 0
    return gaps.map(({ after, ...rest }) => {
      at += after
      return { at, ...rest }
    })
  })
}

function keepsTo(limit: number, all: Request[]): void {
  const arrivals = arrivalsOf(new RateWindow(limit), all)
  expect(arrivals).toHaveLength(all.length)
  expect(mostInASecond(arrivals)).toBeLessThanOrEqual(limit)
}

const limits = fc.integer({ min: 1, max: 12 })

test('a host never sees more than the limit in any second, however long connecting and answering take', () => {
  fc.assert(fc.property(limits, requestsThat(fc.nat(22)), keepsTo))
})

test('nor when requests arrive late, once quick answers have shown that they are late', () => {
  const quick = { at: 0, connecting: 0, travelling: 0, answering: 3 }
  fc.assert(
    fc.property(limits, requestsThat(fc.oneof(fc.nat(22), fc.nat(1000))), (limit, all) =>
      keepsTo(limit, [...Array<Request>(limit).fill(quick), ...all]),
    ),
  )
})

test('nor when a host that has just started lets the first requests wait', () => {
  const late = { at: 0, connecting: 0, travelling: 300, answering: 3 }
  const quick = { ...late, travelling: 0 }
  keepsTo(5, [...Array<Request>(5).fill(late), ...Array<Request>(20).fill(quick)])
})

test('with a quick host nearly all of the rate is used, with a slow host at least 97 %', () => {
  const timeFor1000 = (answering: number) => {
    const all = Array(1001).fill({ at: 0, connecting: 0, travelling: 0, answering })
    return Math.max(...arrivalsOf(new RateWindow(10), all))
  }
  expect(100_000 / timeFor1000(3)).toBeGreaterThan(0.99)
  expect(100_000 / timeFor1000(500)).toBeGreaterThan(0.97)
})

test('a place that was given back is free at once', () => {
  const window = new RateWindow(1)
  const slot = window.take()
  expect(window.waitMs(0)).toBeGreaterThan(0)
  slot.release()
  slot.release()
  expect(window.waitMs(0)).toBe(0)
})

test('the host may lower the limit, but not raise it', () => {
  const window = new RateWindow(3)
  window.adopt(10)
  const slots = [window.take(), window.take(), window.take()]
  for (const slot of slots) slot.start(0)
  expect(window.waitMs(0)).toBeGreaterThan(1000)
  for (const slot of slots) slot.answered(10)
  window.adopt(1)
  expect(window.waitMs(WINDOW_MS)).toBe(0)
  window.take().start(WINDOW_MS)
  expect(window.waitMs(WINDOW_MS)).toBeGreaterThan(1000)
})

test('without a limit nothing waits', () => {
  const window = new RateWindow(Number.POSITIVE_INFINITY)
  for (let i = 0; i < 1000; i++) window.take().start(0)
  expect(window.waitMs(0)).toBe(0)
})

test('Retry-After is understood in seconds and as a date, and in no other form', () => {
  const now = 'Tue, 03 Nov 2026 10:00:00 GMT'
  const wait = (value: string) => paceOf({ 'retry-after': value, date: now }).retryAfterMs
  expect(wait('3')).toBe(3000)
  expect(wait('0')).toBe(0)
  expect(wait('Tue, 03 Nov 2026 10:00:07 GMT')).toBe(7000)
  expect(wait('Tue, 03 Nov 2026 09:00:00 GMT')).toBe(0)
  expect(wait('-1')).toBeNull()
  expect(wait('soon')).toBeNull()
  expect(paceOf({}).retryAfterMs).toBeNull()
})

test('X-RateLimit-Limit is understood when it is a positive number', () => {
  const limit = (value: string) => paceOf({ 'x-ratelimit-limit': value }).limit
  expect(limit('5')).toBe(5)
  expect(limit('0')).toBeNull()
  expect(limit('10, 10;w=1')).toBeNull()
  expect(limit(' 4 ')).toBe(4)
})
