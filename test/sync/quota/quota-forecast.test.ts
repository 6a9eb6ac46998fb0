import { expect, it } from 'vitest'
import { DAY_MS } from '../../../src/protocol/clock.ts'
import { forecast, rateOf } from '../../../src/sync/quota/quota-state.ts'

const HOUR = 3_600_000
const now = Date.parse('2026-11-21T18:00:00Z')
const nextDay = Date.parse('2026-11-22T00:00:00Z')
const outlook = { pictures: 100, now, left: 5000, perDay: 4500, nextDay, rate: 10 }

it('what fits into today is done at the measured pace', () => {
  expect(forecast(outlook)).toEqual({ days: 0, doneBy: now + 10_000 })
  expect(forecast({ ...outlook, rate: null })).toEqual({ days: 0, doneBy: null })
  expect(forecast({ ...outlook, pictures: 0 })).toEqual({ days: 0, doneBy: now })
})

it('a backlog takes what is left of today, whole days, and the rest of one', () => {
  const { days, doneBy } = forecast({ ...outlook, pictures: 12_345 })
  // 5,000 today, 4,500 tomorrow, 2,845 on the day after.
  expect(doneBy).toBe(nextDay + DAY_MS + 284_500)
  expect(days).toBe(2)
  expect(forecast({ ...outlook, pictures: 12_345, left: 0, rate: null })).toEqual({
    days: 3,
    doneBy: nextDay + 2 * DAY_MS,
  })
})

it('a slow line counts where it is slower than the quota', () => {
  // A hundred an hour.
  const slow = forecast({ ...outlook, pictures: 3000, rate: 100 / 3600 })
  expect(slow.doneBy).toBeCloseTo(now + 30 * HOUR, -3)
  expect(slow.days).toBe(2)
})

it('the pace is measured over what tells something', () => {
  expect(rateOf(3, 1000, null)).toBeNull()
  expect(rateOf(100, 0, null)).toBeNull()
  expect(rateOf(100, 10_000, null)).toBe(10)
  expect(rateOf(100, 10_000, 20)).toBe(15)
})

it('begins with the next day where that has begun and the pace is not known', () => {
  expect(forecast({ ...outlook, pictures: 2, left: 0, nextDay: now, rate: null })).toEqual({
    days: 1,
    doneBy: now,
  })
})
