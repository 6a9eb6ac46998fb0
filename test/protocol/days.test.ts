import { expect, it } from 'vitest'
import { DAY_MS } from '../../src/protocol/clock.ts'
import { beginningAfter, daysFrom, daysOf } from '../../src/protocol/days.ts'

const isoOf = (ms: number) => new Date(ms).toISOString()

it('a day begins at its time in its time zone', () => {
  const days = daysOf({ minutes: 90, time_zone: 'Asia/Shanghai' })
  expect(isoOf(days(Date.parse('2026-11-21T17:29:59.999Z')))).toBe('2026-11-20T17:30:00.000Z')
  expect(isoOf(days(Date.parse('2026-11-21T17:30:00Z')))).toBe('2026-11-21T17:30:00.000Z')
  expect(isoOf(beginningAfter(days, Date.parse('2026-11-21T17:30:00Z')))).toBe('2026-11-22T17:30:00.000Z')
})

it('a day begins at midnight there on the days when the clocks change', () => {
  const days = daysOf({ minutes: 0, time_zone: 'Europe/Berlin' })
  for (const [moment, began, next] of [
    ['2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-03-29T21:59:59Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25T12:00:00Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['2026-10-25T22:59:59Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
  ] as const) {
    expect(isoOf(days(Date.parse(moment)))).toBe(began)
    expect(isoOf(beginningAfter(days, Date.parse(moment)))).toBe(next)
  }
})

it('a day begins at half past three by the clocks there, also in the night in which these change', () => {
  const days = daysOf({ minutes: 210, time_zone: 'Europe/Berlin' })
  for (const [moment, began] of [
    ['2026-03-28T12:00:00Z', '2026-03-28T02:30:00.000Z'],
    ['2026-03-29T12:00:00Z', '2026-03-29T01:30:00.000Z'],
    ['2026-10-24T12:00:00Z', '2026-10-24T01:30:00.000Z'],
    ['2026-10-25T12:00:00Z', '2026-10-25T02:30:00.000Z'],
  ] as const)
    expect(isoOf(days(Date.parse(moment)))).toBe(began)
})

it('days of 24 hours go on from one of their beginnings, before it and after it', () => {
  const moment = Date.parse('2026-11-21T16:00:03.500Z')
  const days = daysFrom(moment)
  expect(days(moment)).toBe(moment)
  expect(days(moment - 1)).toBe(moment - DAY_MS)
  expect(beginningAfter(days, moment + 5)).toBe(moment + DAY_MS)
})
