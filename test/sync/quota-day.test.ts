import { expect, it } from 'vitest'
import { quotaDayOf } from '../../src/sync/quota-day.ts'

it('a quota day begins at midnight in UTC where nothing is known', () => {
  const day = quotaDayOf()
  expect(day(Date.parse('2026-11-21T23:59:59.999Z'))).toBe('2026-11-21')
  expect(day(Date.parse('2026-11-22T00:00:00Z'))).toBe('2026-11-22')
})

it('a quota day begins at its time in its time zone', () => {
  const day = quotaDayOf({ minutes: 90, time_zone: 'Asia/Shanghai' })
  expect(day(Date.parse('2026-11-21T17:29:59Z'))).toBe('2026-11-21')
  expect(day(Date.parse('2026-11-21T17:30:00Z'))).toBe('2026-11-22')
})

it('a quota day begins at midnight there on the days when the clocks change', () => {
  const day = quotaDayOf({ minutes: 0, time_zone: 'Europe/Berlin' })
  expect(day(Date.parse('2026-03-28T22:59:59Z'))).toBe('2026-03-28')
  expect(day(Date.parse('2026-03-28T23:00:00Z'))).toBe('2026-03-29')
  expect(day(Date.parse('2026-03-29T21:59:59Z'))).toBe('2026-03-29')
  expect(day(Date.parse('2026-03-29T22:00:00Z'))).toBe('2026-03-30')
})
