import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from '../../src/remote/gate/outage.ts'
import { paceOf } from '../../src/remote/gate/rate-window.ts'

test('Retry-After is understood in seconds and as a date of the host, and nothing else is', () => {
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

test('X-RateLimit-Limit is understood where it is a positive number', () => {
  const limit = (value: string) => paceOf({ 'x-ratelimit-limit': value }).limit
  expect(limit('5')).toBe(5)
  expect(limit('0')).toBeNull()
  expect(limit('10, 10;w=1')).toBeNull()
  expect(paceOf({ 'x-ratelimit-limit': ['4', '9'] as never }).limit).toBe(4)
})

test('a wait grows no further than its limit, and is never less than what the host asked for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.option(fc.double({ min: 0, noNaN: true }), { nil: null }),
      (failures, random, asked) => {
        const wait = backoffMs(failures, asked, { random: () => random, maxDelayMs: 2000 })
        expect(wait).toBeGreaterThanOrEqual(Math.min(asked ?? 0, 60_000))
        expect(wait).toBeLessThanOrEqual(Math.max(2000, Math.min(asked ?? 0, 60_000)))
      },
    ),
  )
})

test('waits double with each failure and spread over the whole of it', () => {
  const at = (failures: number, random: number) =>
    backoffMs(failures, null, { random: () => random, maxDelayMs: 300_000 })
  expect([1, 2, 3, 4].map(failures => at(failures, 1))).toEqual([250, 500, 1000, 2000])
  expect(at(4, 0)).toBe(0)
  expect(at(4, 0.5)).toBe(1000)
})
